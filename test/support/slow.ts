// A resource whose statements can be made so slow that they end only when they are cancelled.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import type { RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic, Op, type Options, QueryTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../lib/index.js'
import { databaseName, openAgain } from './database.js'
import { openStage, type Stage } from './stage.js'

const isSqlite = databaseName === 'sqlite'

/** A slow statement of SQLite. With the default, it practically never ends. */
export function slowStatement(rows = 100_000_000_000): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT MAX(i) AS i FROM n`
}

/** A condition that becomes true after some seconds. On SQLite, the seconds are converted to iterations. */
export function trueAfter(seconds: number): string {
  if (isSqlite) return `(${slowStatement(1_500_000 * seconds)}) > 0`
  return databaseName === 'postgres' ? `(SELECT pg_sleep(${seconds})) IS NOT NULL` : `SLEEP(${seconds}) = 0`
}

/** A condition that takes minutes to evaluate. */
export const SLOW = trueAfter(isSqlite ? 100_000 : 300)

/** A statement of about one second. */
export const BRIEF = `SELECT ${trueAfter(1)} AS held`

/** Read requests with different statements. */
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

export interface Bench extends Stage {
  /** A second Sequelize instance on the database. Statements of this instance stay fast. */
  readonly other: Sequelize
  readonly Thing: ModelStatic<Model>
  /** Errors reported to `onError`. */
  readonly errors: unknown[]
  /** Makes all statements on the resource's table slow or fast. */
  readonly turn: (how: 'slow' | 'fast') => Promise<void>
  readonly rows: () => Promise<unknown[]>
}

/** Serves a resource with three records. `/calm` serves its table without a statement timeout. */
export async function slowBench(
  t: ExecutionContext,
  options: CrudOptions,
  { first = [], ...more }: Options & { readonly first?: readonly ((sequelize: Sequelize) => RequestHandler)[] } = {},
): Promise<Bench> {
  const server = await openStage({ sequelize: more })
  const { app, sequelize } = server
  const isSlow = sequelize.literal(`CASE WHEN (SELECT MAX(slow) FROM switches) = 1 THEN ${SLOW} ELSE 1 = 1 END`)
  const Thing = sequelize.define(
    'thing',
    { name: DataTypes.STRING, level: DataTypes.INTEGER, ownerId: DataTypes.INTEGER },
    { timestamps: false, defaultScope: { where: { [Op.and]: [isSlow] } } },
  )
  Thing.hasMany(Thing, { as: 'parts', foreignKey: 'ownerId', constraints: false })
  const errors: unknown[] = []
  const common: CrudOptions = {
    operations: ['getById', 'getList', 'create', 'update', 'delete', 'bulkCreate', 'bulkDelete', 'aggregate', 'export'],
    query: { search: ['name'] },
    onError: (error) => errors.push(error),
  }
  for (const each of first) app.use(each(sequelize))
  app.use(crudRouter(Thing, { ...common, ...options }))
  app.use('/calm', crudRouter(Thing, common))
  await sequelize.sync()
  await sequelize.query('CREATE TABLE switches (slow INTEGER)')
  await sequelize.query('INSERT INTO switches (slow) VALUES (0)')
  await Thing.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }])
  const other = openAgain(sequelize)
  t.teardown(async () => {
    await other.close()
    await server.close()
  })
  const turn = async (how: 'slow' | 'fast'): Promise<void> => {
    await other.query(`UPDATE switches SET slow = ${how === 'slow' ? 1 : 0}`)
  }
  const rows = (): Promise<unknown[]> => other.query('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })
  return { ...server, other, Thing, errors, turn, rows }
}

/** Statements that run on the server, except this query. Unknown on SQLite. */
export async function running({ other }: Bench): Promise<readonly object[]> {
  if (isSqlite) return []
  const sql =
    databaseName === 'postgres'
      ? `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'`
      : `SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Query' AND id <> CONNECTION_ID() AND info NOT LIKE 'KILL QUERY %'`
  return other.query(sql, { type: QueryTypes.SELECT })
}

/** Asserts that no statement is running on the server. */
export async function assertEnded(t: ExecutionContext, bench: Bench, what: string): Promise<void> {
  // A server needs time to cancel statements. The pool may reconnect in this time.
  let left = await running(bench)
  for (let times = 0; left.length > 0 && times < 40; times += 1) {
    await wait(25)
    left = await running(bench)
  }
  t.deepEqual(left, [], what)
}
