// A resource whose statements can be made slow, so slow that only being ended ends them.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic, Op, type Options, QueryTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../lib/index.js'
import { databaseName, openAgain, openDatabase } from './database.js'
import { serve, type TestServer } from './server.js'

const isSqlite = databaseName === 'sqlite'

/** A statement of SQLite that takes its time: forever, unless told how many rows it makes. */
export function counting(rows = 100_000_000_000): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT MAX(i) AS i FROM n`
}

/** A condition that holds, after so many seconds; on SQLite as many as they come to. */
export function holdsAfter(seconds: number): string {
  if (isSqlite) return `(${counting(1_500_000 * seconds)}) > 0`
  return databaseName === 'postgres' ? `(SELECT pg_sleep(${seconds})) IS NOT NULL` : `SLEEP(${seconds}) = 0`
}

/** A condition that takes minutes. */
export const SLOW = holdsAfter(isSqlite ? 100_000 : 300)

/** A statement that takes a second or so. */
export const BRIEF = `SELECT ${holdsAfter(1)} AS held`

/** Requests that read, each by other statements. */
export const READS: readonly (readonly [what: string, path: string, accept?: string])[] = [
  ['GET', '/api/things/1'],
  ['a page', '/api/things?sort=-name'],
  ['a filtered page', '/api/things?filter=Name=*o&pageSize=1'],
  ['a count', '/api/things?count=true'],
  ['a cursor', '/api/things?cursor='],
  ['a walk', '/api/things?after=&sort=level'],
  ['a search', '/api/things?search=one'],
  ['a quantifier', '/api/things?filter=Parts.Count%3E1'],
  ['a collection', '/api/things?select=name,parts'],
  ['an aggregate', '/api/things?aggregate=count&group=name'],
  ['an export', '/api/things', 'text/csv'],
]

export interface Bench extends TestServer {
  readonly sequelize: Sequelize
  /** Another Sequelize on the same database, where nothing is slow. */
  readonly other: Sequelize
  readonly Thing: ModelStatic<Model>
  /** What `onError` was told. */
  readonly heard: unknown[]
  /** Every statement of the first Sequelize, newest last. */
  readonly statements: readonly string[]
  /** Makes every statement about things slow, or fast again. */
  readonly turn: (how: 'slow' | 'fast') => Promise<void>
  readonly rows: () => Promise<unknown[]>
}

/** A resource with three things in it, and the same under `/calm` without a limit. */
export async function slowBench(
  t: ExecutionContext,
  options: CrudOptions,
  { first = [], ...more }: Options & { readonly first?: readonly ((sequelize: Sequelize) => RequestHandler)[] } = {},
): Promise<Bench> {
  const database = await openDatabase(more)
  const { sequelize, statements } = database
  const isSlow = sequelize.literal(`CASE WHEN (SELECT MAX(slow) FROM switches) = 1 THEN ${SLOW} ELSE 1 = 1 END`)
  const Thing = sequelize.define(
    'thing',
    { name: DataTypes.STRING, level: DataTypes.INTEGER, ownerId: DataTypes.INTEGER },
    { timestamps: false, defaultScope: { where: { [Op.and]: [isSlow] } } },
  )
  Thing.hasMany(Thing, { as: 'parts', foreignKey: 'ownerId', constraints: false })
  const heard: unknown[] = []
  const common: CrudOptions = {
    operations: ['getById', 'getList', 'create', 'update', 'delete', 'bulkCreate', 'bulkDelete', 'aggregate', 'export'],
    query: { search: ['name'] },
    onError: (error) => heard.push(error),
  }
  const app = express()
  for (const each of first) app.use(each(sequelize))
  app.use(crudRouter(Thing, { ...common, ...options }))
  app.use('/calm', crudRouter(Thing, common))
  await sequelize.sync()
  await sequelize.query('CREATE TABLE switches (slow INTEGER)')
  await sequelize.query('INSERT INTO switches (slow) VALUES (0)')
  await Thing.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }])
  const server = await serve(app)
  const other = openAgain(sequelize)
  t.teardown(async () => {
    await server.close()
    await other.close()
    await database.close()
  })
  const turn = async (how: 'slow' | 'fast'): Promise<void> => {
    await other.query(`UPDATE switches SET slow = ${how === 'slow' ? 1 : 0}`)
  }
  const rows = (): Promise<unknown[]> => other.query('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })
  return { ...server, sequelize, other, Thing, heard, statements, turn, rows }
}

/** The statements that run on the server, but for the one that asks and those that end others; of SQLite nobody knows. */
export async function running({ other }: Bench): Promise<readonly object[]> {
  if (isSqlite) return []
  const sql =
    databaseName === 'postgres'
      ? `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
      : `SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Query' AND id <> CONNECTION_ID() AND info NOT LIKE 'KILL QUERY %'`
  return other.query(sql, { type: QueryTypes.SELECT })
}

/** That nothing runs on the server any more. */
export async function assertEnded(t: ExecutionContext, bench: Bench, what: string): Promise<void> {
  // A server takes its time to say so, and meanwhile the pool may open connections anew.
  let left = await running(bench)
  for (let times = 0; left.length > 0 && times < 40; times += 1) {
    await wait(25)
    left = await running(bench)
  }
  t.deepEqual(left, [], what)
}
