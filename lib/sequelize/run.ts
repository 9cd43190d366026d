// Statements through `sequelize.query`, or directly with the same logging and errors.

import { type Model, type ModelStatic, QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { limitOptionsOf } from './connections.js'
import { type DialectQuery, internalsOf, queryGeneratorOf, sequelizeOf } from './internals.js'
import { statementLoggingOf } from './logging.js'
import { readOptionOf } from './primary.js'
import type { StatementLimit } from './statementTimeout.js'

/** Settings of a statement for `sequelize.query`. */
export interface QueryRun {
  readonly sql: string
  readonly transaction: Transaction | undefined
  /** Whether the statement writes, or reads a recent write, so that it must use the primary. */
  readonly writes: boolean
  /** Statement timeout without a transaction. Default: no timeout. */
  readonly limit?: StatementLimit | null
  /** Whether the host's `logging` receives the statement. Default: true. */
  readonly isLogged?: boolean
}

export type RawRow = { readonly [column: string]: unknown }

/** Runs a statement and returns its rows, with the host's logging, pool and replication, but without a model. */
export async function runReadQuery(sequelize: Sequelize, run: QueryRun): Promise<readonly RawRow[]> {
  return sequelize.query(run.sql, { ...runOptionsOf(sequelize, run), type: QueryTypes.SELECT }) as Promise<RawRow[]>
}

/** Runs an UPDATE or DELETE and returns the reported number of rows. */
export async function runWriteQuery(sequelize: Sequelize, run: QueryRun): Promise<number> {
  const count: unknown = await sequelize.query(run.sql, {
    ...runOptionsOf(sequelize, run),
    type: QueryTypes.BULKDELETE,
  })
  return typeof count === 'number' ? count : 0
}

function runOptionsOf(sequelize: Sequelize, { transaction, writes, limit, isLogged = true }: QueryRun): object {
  return {
    raw: true,
    tableNames: [],
    ...(transaction === undefined ? {} : { transaction }),
    ...readOptionOf(writes),
    ...limitOptionsOf(limit),
    ...(isLogged ? statementLoggingOf(sequelize) : { logging: false }),
  }
}

/** Whether no hook or option of the host needs `sequelize.query` for single queries. */
export function canRunOwnQueries(sequelize: Sequelize): boolean {
  const { hooks: { beforeQuery = NONE, afterQuery = NONE } = {}, query = {} } = internalsOf(sequelize).options
  return beforeQuery.every(isOwnHook) && afterQuery.every(isOwnHook) && Object.keys(query).length === 0
}

const NONE: readonly never[] = []

/** Whether a hook is the package's own. */
function isOwnHook(hook: unknown): boolean {
  return Object(hook).name === OWN_HOOK
}

/** Whether no hook or option of the host affects single queries on a server's pool. */
export function canRunServerQueries(sequelize: Sequelize): boolean {
  const { retry, native, dialectOptions, showWarnings } = internalsOf(sequelize).options
  const { match } = retry ?? {}
  // By default Sequelize retries only if SQLite is busy.
  const triesOnce = match === undefined || (Array.isArray(match) && match.every((each) => each === SQLITE_BUSY))
  const hasUnsupportedOption = native === true || dialectOptions?.prependSearchPath === true || showWarnings === true
  return triesOnce && !hasUnsupportedOption && canRunOwnQueries(sequelize)
}

/** Name of the package's own hooks around queries. */
export const OWN_HOOK = 'crud-queries'

export const SQLITE_BUSY = 'SQLITE_BUSY: database is locked'

/** Logs a statement like Sequelize, and returns a function to call when the statement ends. */
export function logQuery(
  sequelize: Sequelize,
  connection: object,
  sql: string,
  values: readonly unknown[],
): () => void {
  const { logging, benchmark } = internalsOf(sequelize).options
  if (logging === false && benchmark !== true) return () => undefined
  return createDialectQuery(sequelize, connection)._logQuery(sql, () => undefined, values)
}

/** Converts a driver's error to Sequelize's error class. */
export function formatError(sequelize: Sequelize, connection: object, sql: string, error: Error): Error {
  const { stack } = new Error(error.message)
  return createDialectQuery(sequelize, connection).formatError(Object.assign(error, { sql }), stack)
}

function createDialectQuery(sequelize: Sequelize, connection: object): DialectQuery {
  const { dialect, options } = internalsOf(sequelize)
  return new dialect.Query(connection, sequelize, { logging: options.logging, ...statementLoggingOf(sequelize) })
}

/** Evaluates an expression in the database. */
export async function evaluateExpression(
  model: ModelStatic<Model>,
  expression: unknown,
  run: Transaction | undefined,
): Promise<unknown> {
  const sequelize = sequelizeOf(model)
  const sql = `SELECT ${queryGeneratorOf(sequelize).handleSequelizeMethod(expression)} AS _`
  const [row] = await runReadQuery(sequelize, { sql, transaction: run, writes: true })
  return row?._
}
