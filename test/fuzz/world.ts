import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { QueryTypes, type Sequelize } from 'sequelize'
import { Server } from 'socket.io'
import { openDatabase } from '../support/database.js'
import { checkReplies } from '../support/replies.js'
import { type Application, buildApplication } from './application.js'
import { type Any, defineModels, type Models } from './models.js'
import type { Seed, Seeds } from './rows.js'
import { TABLES, type Table, type TableName, tableNamed } from './tables.js'
import { allowWrites, skipWrites } from './triggers.js'

/** A database with rows, and the application over it behind a real server. */
export interface World extends Application {
  readonly models: Models
  readonly port: number
  /** What replies had that the documents of their resources do not say. */
  readonly objections: string[]
  /** Puts the rows back to what they were in the beginning. */
  readonly reset: () => Promise<void>
  readonly close: () => Promise<void>
}

/** @param constraints false where rows may point at others that are not there: replies are not held against documents then */
export async function openWorld(seeds: Seeds, constraints = true): Promise<World> {
  const database = await openDatabase({ logging: false, pool: { max: 8 } })
  const { sequelize } = database
  if (database.name === 'postgres') await sequelize.query('CREATE EXTENSION IF NOT EXISTS citext')
  const models = defineModels(sequelize, constraints)
  const io = new Server()
  const application = buildApplication(models, io)
  await sequelize.sync()
  const objections: string[] = []
  const listener = constraints ? checkReplies(application.app, objections) : application.app
  const server = createServer(listener)
  io.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await insert(models, seeds)
  await goOnBehind(models)
  await skipWrites(sequelize)
  return {
    ...application,
    models,
    objections,
    port: (server.address() as AddressInfo).port,
    reset: async () => {
      await allowWrites(sequelize)
      await empty(sequelize, models)
      await insert(models, seeds)
      await skipWrites(sequelize)
    },
    close: async () => {
      io.disconnectSockets(true)
      io.engine.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await database.close()
    },
  }
}

const STAMP = new Date(Date.UTC(2024, 5, 1))

async function insert(models: Models, seeds: Seeds): Promise<void> {
  for (const table of TABLES) {
    const rows = seeds[table.name].map((seed) => rowOf(table, seed))
    await models[table.name].bulkCreate(rows, { hooks: false, logging: false })
  }
  const links = seeds.Team.flatMap(({ values, links: tags }) =>
    tags.map((tagId) => ({ teamId: storedValue('id', values.id), tagId })),
  )
  await linksOf(models).bulkCreate(links, { logging: false })
}

const UUID = /^[0-9a-f-]{36}$/

/** As others have stored it: some UUIDs and text keys in upper case, keys and what points at them alike. */
function storedValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const isUpper = UUID.test(value) ? /[2367abef]$/.test(value) : name === 'id' && /^land \d*[02468]$/.test(value)
  return isUpper ? value.toUpperCase() : value
}

function rowOf({ softDelete, audited }: Table, { values, deleted }: Seed): Record<string, unknown> {
  const stamps = { createdAt: STAMP, updatedAt: STAMP }
  return {
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, storedValue(name, value)])),
    ...(audited ? { ...stamps, createdBy: 'seed', updatedBy: 'seed' } : {}),
    ...(softDelete === 'mark' ? { isDeleted: deleted, deletedAt: deleted ? STAMP : null } : {}),
    ...(softDelete === 'paranoid' ? { ...stamps, deletedAt: deleted ? STAMP : null } : {}),
  }
}

function linksOf({ Team }: Models): Any {
  const model = Team.sequelize?.model('TeamTag')
  if (model === undefined) throw new TypeError('the models have no database')
  return model
}

async function empty(sequelize: Sequelize, models: Models): Promise<void> {
  const all = [linksOf(models), ...TABLES.toReversed().map(({ name }) => models[name])]
  // Rows of one table point at each other.
  await models.Player.unscoped().update({ mentorId: null }, { where: {}, paranoid: false, hooks: false, silent: true })
  for (const name of ['crud_idempotency_keys', ...all.map((model) => String(model.getTableName()))]) {
    const table = sequelize.getQueryInterface().quoteIdentifier(name, true)
    await sequelize.query(`DELETE FROM ${table}`, { type: QueryTypes.RAW })
  }
}

/** Keys that the database counts go on behind those that were given to it. */
async function goOnBehind(models: Models): Promise<void> {
  const { sequelize } = models.Player
  if (sequelize?.getDialect() !== 'postgres') return
  const counted = TABLES.filter(({ key }) => key.kind === 'level' || key.kind === 'big')
  for (const { name } of counted) {
    const table = models[name].getTableName()
    await sequelize.query(
      `SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM "${table}"), false)`,
      { type: QueryTypes.SELECT },
    )
  }
}

/** The rows as the database has them, whatever hides them; what has no case in lower case. */
export async function rowsOf(models: Models, name: TableName): Promise<readonly Record<string, unknown>[]> {
  const found: unknown = await models[name].unscoped().findAll({ raw: true, paranoid: false })
  const { key, columns } = tableNamed(name)
  const folded = [key, ...columns].filter(({ kind }) => kind === 'uuid' || kind === 'folded')
  return (found as readonly Record<string, unknown>[]).map((row) => {
    const keys = folded.map(({ name: column }) => [column, lowered(row[column])] as const)
    return { ...row, ...Object.fromEntries(keys) }
  })
}

function lowered(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}
