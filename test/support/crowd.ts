import type { Express } from 'express'
import {
  DataTypes,
  literal,
  type Model,
  type ModelAttributes,
  type ModelOptions,
  type ModelStatic,
  QueryTypes,
  type Sequelize,
} from 'sequelize'
import { crudRouter } from '../../lib/index.js'

type Any = ModelStatic<Model>

/** Many players in many teams with typical indexes, for tests of index use. */
export interface Crowd {
  readonly Player: Any
  readonly Team: Any
  readonly Sponsor: Any
  readonly TeamSponsor: Any
  /** A model on the players' table that hides players of other tenants and deleted players. */
  readonly Member: Any
}

/** Number of players per team. */
export const TEAM_SIZE = 20

const STATUSES = ['active', 'idle', 'banned'] as const

export function defineCrowd(sequelize: Sequelize): Crowd {
  const dialect = sequelize.getDialect()
  // In PostgreSQL, an index serves LIKE under a collation other than C only with this operator class. Other databases
  // ignore the operator class.
  const prefix = (name: string) => ({ name, operator: 'text_pattern_ops' })
  // Index for `/i`. MySQL has no index that serves `/i`.
  const folded = { postgres: 'lower("note") text_pattern_ops', sqlite: 'note COLLATE NOCASE' }[dialect as string]
  const Team = sequelize.define(
    'Team',
    { name: { type: DataTypes.STRING(50), allowNull: false }, seats: { type: DataTypes.INTEGER, allowNull: false } },
    { tableName: 'teams', timestamps: false, indexes: [{ name: 'teams_name', fields: [prefix('name')] }] },
  )
  const Sponsor = sequelize.define(
    'Sponsor',
    { name: { type: DataTypes.STRING(50), allowNull: false } },
    { tableName: 'sponsors', timestamps: false, indexes: [{ name: 'sponsors_name', fields: ['name'] }] },
  )
  const TeamSponsor = sequelize.define(
    'TeamSponsor',
    {},
    {
      tableName: 'team_sponsors',
      timestamps: false,
      indexes: [{ name: 'team_sponsors_sponsor', fields: ['sponsorId'] }],
    },
  )
  const options: ModelOptions = {
    tableName: 'players',
    timestamps: false,
    indexes: [
      { name: 'players_name', fields: [prefix('name')] },
      { name: 'players_email', fields: ['email'] },
      ...(folded === undefined ? [] : [{ name: 'players_folded', fields: [literal(folded)] }]),
      { name: 'players_level', fields: ['level', 'id'] },
      { name: 'players_points', fields: ['points', 'id'] },
      { name: 'players_salary', fields: ['salary'] },
      { name: 'players_account', fields: ['accountId'] },
      { name: 'players_code', fields: ['code'] },
      { name: 'players_status', fields: ['status'] },
      { name: 'players_active', fields: ['isActive'] },
      { name: 'players_born', fields: ['bornOn'] },
      { name: 'players_created', fields: ['createdAt'] },
      { name: 'players_team', fields: ['teamId', 'level'] },
      { name: 'players_tenant', fields: ['tenantId', 'isDeleted', 'level', 'id'] },
    ],
  }
  const Player = sequelize.define('Player', attributes(), options)
  const Member = sequelize.define('Member', { ...attributes(), teamId: DataTypes.INTEGER }, options)
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Team.belongsToMany(Sponsor, { as: 'sponsors', through: TeamSponsor, foreignKey: 'teamId', otherKey: 'sponsorId' })
  return { Player, Team, Sponsor, TeamSponsor, Member }
}

function attributes(): ModelAttributes {
  return {
    id: { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true },
    name: { type: DataTypes.STRING(50), allowNull: false },
    email: DataTypes.STRING(100),
    level: { type: DataTypes.INTEGER, allowNull: false },
    points: DataTypes.INTEGER,
    salary: { type: DataTypes.DECIMAL(10, 2), allowNull: false },
    accountId: { type: DataTypes.BIGINT, allowNull: false },
    code: { type: DataTypes.UUID, allowNull: false },
    status: { type: DataTypes.ENUM(...STATUSES), allowNull: false },
    isActive: { type: DataTypes.BOOLEAN, allowNull: false },
    bornOn: { type: DataTypes.DATEONLY, allowNull: false },
    createdAt: { type: DataTypes.DATE(3), allowNull: false },
    tenantId: { type: DataTypes.INTEGER, allowNull: false },
    isDeleted: { type: DataTypes.BOOLEAN, allowNull: false },
    deletedAt: DataTypes.DATE(3),
    note: DataTypes.STRING(100),
  }
}

const FIRST = ['Ana', 'Ben', 'Chloé', 'Dimitri', 'Elif', 'Femi', 'Grace', 'Hiro', 'Inés', 'Jan', 'Kofi', 'Lea']
const LAST = ['Adeyemi', 'Berg', 'Costa', 'Dupont', 'Eriksen', 'Fischer', 'García', 'Haas', 'Ivanov', 'Janssen']
const START = Date.UTC(2024, 0, 1)
const HOUR = 3_600_000
const CHUNK = 5000

/** Pseudorandom number below `limit` for the n-th player and a field. The number is equal on every run. */
function pseudoRandom(n: number, field: number, limit: number): number {
  let mixed = Math.imul(n, 0x9e3779b1) ^ Math.imul(field, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % limit
}

export function playerName(n: number): string {
  return `${FIRST[n % FIRST.length]} ${LAST[pseudoRandom(n, 1, LAST.length)]} ${n}`
}

/** UUID of the n-th player. No two players have one UUID. */
export function playerCode(n: number): string {
  return `${(Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** Creation time of the n-th player. Players are created every two hours. */
export function playerStamp(n: number): Date {
  return new Date(START + n * 2 * HOUR)
}

function playerRow(n: number, players: number): object {
  return {
    name: playerName(n),
    email: n % (players / 20) === 0 ? null : `player${n}@example.com`,
    level: 1 + pseudoRandom(n, 2, 100),
    points: pseudoRandom(n, 3, 500) === 0 ? null : pseudoRandom(n, 4, players),
    salary: `${1000 + pseudoRandom(n, 5, players)}.${pseudoRandom(n, 6, 90) + 10}`,
    accountId: String(9_007_199_254_740_993n + BigInt(n)),
    code: playerCode(n),
    status: n % (players / 10) === 0 ? 'banned' : STATUSES[n % 2],
    isActive: n % (players / 10) !== 1,
    bornOn: new Date(START - pseudoRandom(n, 7, 20_000) * 24 * HOUR).toISOString().slice(0, 10),
    createdAt: playerStamp(n),
    tenantId: 1 + (n % 50),
    isDeleted: pseudoRandom(n, 8, 10) === 0,
    note: `Met at event ${pseudoRandom(n, 9, players / 10)}`,
    teamId: 1 + pseudoRandom(n, 10, players / TEAM_SIZE),
  }
}

export function teamName(n: number): string {
  return `Team ${String(n).padStart(5, '0')}`
}

/** Inserts the rows of all tables, and updates the statistics of the query planner. */
export async function fillCrowd({ Player, Team, Sponsor, TeamSponsor }: Crowd, players: number): Promise<void> {
  const teams = players / TEAM_SIZE
  await insert(Team, teams, (n) => ({ name: teamName(n), seats: 80 + pseudoRandom(n, 11, 40) }))
  await insert(Sponsor, teams, (n) => ({ name: `Sponsor ${n}` }))
  await insert(TeamSponsor, teams * 2, (n) => ({
    teamId: Math.ceil(n / 2),
    sponsorId: 1 + ((Math.ceil(n / 2) + (n % 2)) % teams),
  }))
  await insert(Player, players, (n) => playerRow(n, players))
  const { sequelize } = Player
  if (sequelize === undefined) throw new TypeError('the models have no database')
  await analyze(sequelize, [Player, Team, Sponsor, TeamSponsor])
}

async function insert(model: Any, count: number, row: (n: number) => object): Promise<void> {
  for (let done = 0; done < count; done += CHUNK) {
    const rows = Array.from({ length: Math.min(CHUNK, count - done) }, (_, index) => ({ ...row(done + index + 1) }))
    await model.bulkCreate(rows, { hooks: false, logging: false })
  }
}

/**
 * Updates the statistics of the query planner, which would otherwise guess. On PostgreSQL, a vacuum also enables
 * index-only scans.
 */
async function analyze(sequelize: Sequelize, models: readonly Any[]): Promise<void> {
  const statement = { sqlite: 'ANALYZE', postgres: 'VACUUM ANALYZE' }[sequelize.getDialect()] ?? 'ANALYZE TABLE'
  for (const { tableName } of models)
    await sequelize.query(`${statement} ${tableName}`, { type: QueryTypes.SELECT, logging: false })
}

export function mountCrowd(app: Express, { Player, Team, Sponsor, Member }: Crowd): void {
  app.use(crudRouter(Player, { query: { maxPageSize: 1000 } }))
  app.use(crudRouter(Team))
  app.use(crudRouter(Sponsor))
  app.use(
    crudRouter(Member, {
      softDelete: true,
      identity: () => ({ name: 'Ana', roles: new Set(), permissions: new Set(), claims: {} }),
      scope: () => ({ tenantId: 7 }),
    }),
  )
}
