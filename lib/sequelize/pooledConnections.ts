// Statements on connections of Sequelize's pool that bypass `sequelize.query`, which costs as much as the rest of a small request.

import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { type Connection, connectionsFor } from './connections.js'
import { readOptionOf } from './primary.js'
import { formatError, logQuery } from './run.js'
import { checkSession } from './session.js'
import {
  assertConnected,
  limitAnswer,
  returnConnection,
  type StatementLimit,
  StatementTimer,
} from './statementTimeout.js'

/** Transaction, server and timeout of a statement. */
export interface PooledRun {
  /** Transaction of the statement, already started. */
  readonly transaction: Transaction | undefined
  /** Whether the statement writes, or reads a recent write, so that it must use the primary. */
  readonly writes: boolean
  /** Statement timeout. Applies only without a transaction. */
  readonly limit: StatementLimit | null
}

/** Runs work on the connection of the run's transaction, or on a connection of the pool, acquired like Sequelize does. */
export async function runOnConnection<T>(
  sequelize: Sequelize,
  { transaction, writes, limit }: PooledRun,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const begun = transaction as { readonly connection?: Connection } | undefined
  if (begun?.connection !== undefined) return runOnChecked(sequelize, begun.connection, work)
  const client = limit?.client ?? null
  assertConnected(client)
  const connection = await connectionsFor(sequelize).getConnection({ type: QueryTypes.SELECT, ...readOptionOf(writes) })
  const timer = limit === null ? null : new StatementTimer(sequelize, limit, connection, { client })
  try {
    // If the client disconnected during the wait, the connection is returned at once.
    assertConnected(client)
    return await runOnChecked(sequelize, connection, work)
  } finally {
    returnConnection(sequelize, connection, timer)
  }
}

/** Runs work on a connection after checking its session. */
function runOnChecked<T>(
  sequelize: Sequelize,
  connection: Connection,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const checking = checkSession(sequelize, connection)
  return checking === null ? work(connection) : checking.then(() => work(connection))
}

/**
 * Waits for the result of a statement that the driver has received. Logs the statement and converts errors like
 * Sequelize.
 */
export async function awaitAnswer<T>(
  sequelize: Sequelize,
  connection: Connection,
  { sql, values }: { readonly sql: string; readonly values: readonly unknown[] },
  answer: Promise<T>,
): Promise<T> {
  const logged = logQuery(sequelize, connection, sql, values)
  try {
    return await limitAnswer(connection, answer)
  } catch (error) {
    throw error instanceof Error
      ? formatError(sequelize, connection, sql, Object.assign(error, { parameters: values }))
      : error
  } finally {
    // With `benchmark`, the statement is logged at its end, after success or failure.
    logged()
  }
}
