import {
  type CreationOptional,
  DataTypes,
  type ForeignKey,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Options,
  Sequelize,
} from 'sequelize'
import { nodeSqlite } from '../lib/node-sqlite/index.js'

export class Team extends Model<InferAttributes<Team>, InferCreationAttributes<Team>> {
  declare id: CreationOptional<number>
  declare name: string
  declare description: CreationOptional<string | null>
  declare maxMembers: CreationOptional<number | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

/** A record with the columns that all behaviours need. */
export class Employee extends Model<InferAttributes<Employee>, InferCreationAttributes<Employee>> {
  declare id: CreationOptional<number>
  declare name: string
  declare level: number
  declare salary: number
  declare tenantId: number
  declare isDeleted: CreationOptional<boolean>
  declare deletedAt: CreationOptional<Date | null>
  declare rowVersion: CreationOptional<number>
  declare createdBy: CreationOptional<string | null>
  declare updatedBy: CreationOptional<string | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

export class Player extends Model<InferAttributes<Player>, InferCreationAttributes<Player>> {
  declare id: CreationOptional<number>
  declare name: string
  declare level: CreationOptional<number | null>
  declare email: CreationOptional<string | null>
  declare teamId: ForeignKey<number | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
}

/**
 * Connection options that other processes receive as JSON. JSON cannot contain a driver, so they have only its name.
 */
export interface Target extends Options {
  readonly driver?: 'node-sqlite'
}

/** Defines the schema of all servers: tables, validators and indexes. */
export function connect({ driver, ...options }: Target): Sequelize {
  const module = driver === undefined ? {} : { dialectModule: nodeSqlite }
  const sequelize = new Sequelize({ ...options, ...module, logging: false })
  Team.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      description: DataTypes.STRING(200),
      maxMembers: DataTypes.INTEGER,
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'Team', tableName: 'teams', indexes: [{ fields: ['name'] }] },
  )
  Player.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
      level: { type: DataTypes.INTEGER, defaultValue: 1, validate: { min: 1, max: 100 } },
      email: { type: DataTypes.STRING(200), validate: { isEmail: true } },
      teamId: DataTypes.INTEGER,
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    {
      sequelize,
      modelName: 'Player',
      tableName: 'players',
      indexes: [{ fields: ['level'] }, { fields: ['teamId', 'level'] }],
    },
  )
  Employee.init(
    {
      id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: false },
      level: { type: DataTypes.INTEGER, allowNull: false },
      salary: { type: DataTypes.INTEGER, allowNull: false },
      tenantId: { type: DataTypes.INTEGER, allowNull: false },
      isDeleted: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
      deletedAt: DataTypes.DATE,
      rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
      createdBy: DataTypes.STRING,
      updatedBy: DataTypes.STRING,
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'Employee', tableName: 'employees', indexes: [{ fields: ['tenantId', 'level'] }] },
  )
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  return sequelize
}
