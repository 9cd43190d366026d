// Statements run through Sequelize, or beside it as it would run them.

import { type Model, type ModelStatic, QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { limitedTo } from './connections.js'
import { type DialectQuery, generator, internals, sequelizeOf } from './internals.js'
import { statementLogging } from './logging.js'
import { readsFrom } from './primary.js'
import type { StatementLimit } from './statementTime.js'

/** How a statement runs through `sequelize.query`. */
export interface QueryRun {
  readonly sql: string
  readonly transaction: Transaction | undefined
  /** Whether it writes, or reads what was just written, and so must not go to a replica. */
  readonly writes: boolean
  /** How long it may take, where it has no transaction; as long as it likes unless told. */
  readonly limit?: StatementLimit | null
  /** Whether the host's `logging` is told; it is unless said otherwise. */
  readonly isLogged?: boolean
}

export type RawRow = { readonly [column: string]: unknown }

/** Runs a statement and gives its rows: no model, no PRAGMA, but the host's logging, pool and replication. */
export async function queryRows(sequelize: Sequelize, run: QueryRun): Promise<readonly RawRow[]> {
  return sequelize.query(run.sql, { ...runOptions(sequelize, run), type: QueryTypes.SELECT }) as Promise<RawRow[]>
}

/** Runs an UPDATE or DELETE and gives the number of rows that the database reports. */
export async function queryAffected(sequelize: Sequelize, run: QueryRun): Promise<number> {
  const count: unknown = await sequelize.query(run.sql, { ...runOptions(sequelize, run), type: QueryTypes.BULKDELETE })
  return typeof count === 'number' ? count : 0
}

function runOptions(sequelize: Sequelize, { transaction, writes, limit, isLogged: isTold = true }: QueryRun): object {
  return {
    raw: true,
    tableNames: [],
    ...(transaction === undefined ? {} : { transaction }),
    ...readsFrom(writes),
    ...limitedTo(limit),
    ...(isTold ? statementLogging(sequelize) : { logging: false }),
  }
}

/** Whether nothing of the host's watches or rewrites single queries, so that they need not be `sequelize.query`'s. */
export function runsPlainQueries(sequelize: Sequelize): boolean {
  const { hooks, query } = internals(sequelize).options
  const isHooked = ['beforeQuery', 'afterQuery'].some((name) => hooks?.[name]?.some((hook) => !isTimeHook(hook)))
  return !isHooked && Object.keys(query ?? {}).length === 0
}

/** Whether a hook is the one by which the time of queries is limited. */
function isTimeHook(hook: unknown): boolean {
  return Object(hook).name === TIME_HOOK
}

/** Whether nothing of the host's asks more of single queries on a server's pool than that they run. */
export function runsServerQueries(sequelize: Sequelize): boolean {
  const { retry, native, dialectOptions, showWarnings } = internals(sequelize).options
  const { match } = retry ?? {}
  // By itself Sequelize tries again what SQLite refuses, and nothing else.
  const triesOnce = match === undefined || (Array.isArray(match) && match.every((each) => each === SQLITE_BUSY))
  const isAsked = native === true || dialectOptions?.prependSearchPath === true || showWarnings === true
  return triesOnce && !isAsked && runsPlainQueries(sequelize)
}

/** The name of that hook. */
export const TIME_HOOK = 'crud-statement-time'

export const SQLITE_BUSY = 'SQLITE_BUSY: database is locked'

/** Logs a statement as Sequelize does, and gives what is to be called when it is done. */
export function logQuery(
  sequelize: Sequelize,
  connection: object,
  sql: string,
  values: readonly unknown[],
): () => void {
  const { logging, benchmark } = internals(sequelize).options
  if (logging === false && benchmark !== true) return () => undefined
  return queryOn(sequelize, connection)._logQuery(sql, () => undefined, values)
}

/** The driver's error as the class that Sequelize has for it. */
export function formatError(sequelize: Sequelize, connection: object, sql: string, error: Error): Error {
  const { stack } = new Error(error.message)
  return queryOn(sequelize, connection).formatError(Object.assign(error, { sql }), stack)
}

function queryOn(sequelize: Sequelize, connection: object): DialectQuery {
  const { dialect, options } = internals(sequelize)
  return new dialect.Query(connection, sequelize, { logging: options.logging, ...statementLogging(sequelize) })
}

/** What the database makes of an expression. */
export async function evaluate(
  model: ModelStatic<Model>,
  expression: unknown,
  run: Transaction | undefined,
): Promise<unknown> {
  const sequelize = sequelizeOf(model)
  const sql = `SELECT ${generator(sequelize).handleSequelizeMethod(expression)} AS _`
  const [row] = await queryRows(sequelize, { sql, transaction: run, writes: true })
  return row?._
}
