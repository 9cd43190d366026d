import {
  type DataType,
  DataTypes,
  type Model,
  type ModelAttributeColumnOptions,
  type ModelAttributes,
  type ModelStatic,
  type Sequelize,
} from 'sequelize'
import type { Column, Kind, Table, TableName } from './tables.js'
import { TABLES } from './tables.js'

export type Any = ModelStatic<Model>
export type Models = Readonly<Record<TableName, Any>>

export const TARGETS = ['player', 'skill'] as const
export const RANKS = ['Low', 'middle', 'HIGH'] as const

const TYPES: Readonly<Record<Kind, DataType>> = {
  text: DataTypes.STRING(120),
  folded: DataTypes.CITEXT,
  target: DataTypes.STRING(20),
  email: DataTypes.STRING(120),
  level: DataTypes.INTEGER,
  number: DataTypes.INTEGER,
  big: DataTypes.BIGINT,
  double: DataTypes.DOUBLE,
  money: DataTypes.DECIMAL(14, 2),
  flag: DataTypes.BOOLEAN,
  rank: DataTypes.ENUM(...RANKS),
  day: DataTypes.DATEONLY,
  instant: DataTypes.DATE(3),
  time: DataTypes.TIME,
  uuid: DataTypes.UUID,
  json: DataTypes.JSON,
  bytes: DataTypes.BLOB,
}

/** Rules of a model's own, which bodies are held against. */
const RULES: Readonly<Record<string, object>> = {
  'Player.email': { unique: true, validate: { isEmail: true } },
  'Player.level': { validate: { min: 1, max: 100 } },
  'Player.name': { validate: { len: [2, 120] } },
  'Badge.label': { validate: { is: /^[^<>]*$/ } },
  'Team.budget': { defaultValue: 0 },
  'Tag.isPublic': { defaultValue: false },
}

/** @param constraints whether rows that point nowhere are refused */
export function defineModels(sequelize: Sequelize, constraints: boolean): Models {
  const made = new Map(TABLES.map((table) => [table.name, defineModel(sequelize, table)]))
  const model = (name: TableName): Any => {
    const found = made.get(name)
    if (found === undefined) throw new RangeError(`there is no model ${name}`)
    return found
  }
  const models: Models = {
    Club: model('Club'),
    Team: model('Team'),
    Player: model('Player'),
    Badge: model('Badge'),
    Skill: model('Skill'),
    Training: model('Training'),
    Tag: model('Tag'),
    Ledger: model('Ledger'),
    Region: model('Region'),
    Notice: model('Notice'),
    Comment: model('Comment'),
    Event: model('Event'),
  }
  associate(models, constraints)
  return models
}

function defineModel(sequelize: Sequelize, table: Table): Any {
  const dialect = sequelize.getDialect()
  const attributes: ModelAttributes = { id: keyOf(table, dialect) }
  for (const column of table.columns) {
    if (column.refers !== null) continue
    const rules = RULES[`${table.name}.${column.name}`] ?? {}
    attributes[column.name] = { type: typeOf(column, dialect), allowNull: column.nullable, ...rules }
  }
  const isParanoid = table.softDelete === 'paranoid'
  return sequelize.define(table.name, attributes, {
    timestamps: isParanoid,
    paranoid: isParanoid,
    underscored: table.underscored,
  })
}

/** On MySQL and MariaDB text has no case anyway, and TEXT would be no key. */
function typeOf({ kind }: Column, dialect: string): DataType {
  const isFolded = kind === 'folded' && (dialect === 'mysql' || dialect === 'mariadb')
  return isFolded ? TYPES.text : TYPES[kind]
}

function keyOf({ key }: Table, dialect: string): ModelAttributeColumnOptions {
  const base = { type: typeOf(key, dialect), primaryKey: true, allowNull: false }
  if (key.kind === 'text' || key.kind === 'folded') return base
  return key.kind === 'uuid' ? { ...base, defaultValue: DataTypes.UUIDV4 } : { ...base, autoIncrement: true }
}

function associate(models: Models, constraints: boolean): void {
  const { Club, Team, Player, Badge, Skill, Training, Tag, Ledger, Region, Notice, Comment, Event } = models
  const link = (from: Any, as: string, to: Any, back: string, name: string, allowNull = true): void => {
    from.belongsTo(to, { as, foreignKey: { name, allowNull }, constraints })
    to.hasMany(from, { as: back, foreignKey: { name, allowNull }, constraints })
  }
  link(Team, 'club', Club, 'teams', 'clubId')
  link(Player, 'team', Team, 'players', 'teamId')
  link(Player, 'mentor', Player, 'pupils', 'mentorId')
  link(Training, 'player', Player, 'trainings', 'playerId', false)
  link(Training, 'skill', Skill, 'trainings', 'skillId', false)
  link(Notice, 'region', Region, 'notices', 'regionId')
  link(Event, 'club', Club, 'events', 'clubId')
  for (const [owner, as] of [
    [Player, 'player'],
    [Skill, 'skill'],
  ] as const) {
    const foreignKey = 'targetId'
    owner.hasMany(Comment, { as: 'comments', foreignKey, constraints: false, scope: { targetType: as } })
    Comment.belongsTo(owner, { as, foreignKey, constraints: false })
  }
  Player.belongsTo(Ledger, { as: 'ledger', foreignKey: 'ledgerId', constraints })
  Player.hasOne(Badge, { as: 'badge', foreignKey: 'playerId', constraints })
  Badge.belongsTo(Player, { as: 'player', foreignKey: 'playerId', constraints })
  const trained = { through: Training, constraints }
  Player.belongsToMany(Skill, { as: 'skills', foreignKey: 'playerId', otherKey: 'skillId', ...trained })
  Skill.belongsToMany(Player, { as: 'players', foreignKey: 'skillId', otherKey: 'playerId', ...trained })
  const tagged = { through: 'TeamTag', timestamps: false, constraints }
  Team.belongsToMany(Tag, { as: 'tags', foreignKey: 'teamId', otherKey: 'tagId', ...tagged })
  Tag.belongsToMany(Team, { as: 'teams', foreignKey: 'tagId', otherKey: 'teamId', ...tagged })
}
