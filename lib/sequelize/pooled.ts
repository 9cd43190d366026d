// Statements on connections of Sequelize's pool that Sequelize itself does not run: its own way of running one costs as much
// as the rest of a small request.

import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { type Connection, connectionsFor } from './connections.js'
import { readsFrom } from './primary.js'
import { formatError, logQuery } from './run.js'
import { checkSession } from './session.js'
import { assertAwaited, giveBack, StatementClock, type StatementLimit, timedAnswer } from './statementTime.js'

/** Where a statement runs. */
export interface PooledRun {
  /** What it is part of, already begun. */
  readonly transaction: Transaction | undefined
  /** Whether it writes, or reads what was just written, and so must not go to a replica. */
  readonly writes: boolean
  /** How long it may take, where it is part of nothing. */
  readonly limit: StatementLimit | null
}

/** Does something on the connection of a run's transaction, or on one of the pool's, as Sequelize would take it. */
export async function onConnection<T>(
  sequelize: Sequelize,
  { transaction, writes, limit }: PooledRun,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const begun = transaction as { readonly connection?: Connection } | undefined
  if (begun?.connection !== undefined) return onChecked(sequelize, begun.connection, work)
  const leaving = limit?.leaving ?? null
  assertAwaited(leaving)
  const connection = await connectionsFor(sequelize).getConnection({ type: QueryTypes.SELECT, ...readsFrom(writes) })
  const clock = limit === null ? null : new StatementClock(sequelize, limit, connection, leaving)
  try {
    // Callers who left while they waited keep the connection from nobody.
    assertAwaited(leaving)
    return await onChecked(sequelize, connection, work)
  } finally {
    giveBack(sequelize, connection, clock)
  }
}

/** Does something on a connection whose session was checked. */
function onChecked<T>(
  sequelize: Sequelize,
  connection: Connection,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const checking = checkSession(sequelize, connection)
  return checking === null ? work(connection) : checking.then(() => work(connection))
}

/** What a driver answers to a statement that it was just handed: logged, and failing, as Sequelize would. */
export async function answered<T>(
  sequelize: Sequelize,
  connection: Connection,
  { sql, values }: { readonly sql: string; readonly values: readonly unknown[] },
  answer: Promise<T>,
): Promise<T> {
  const logged = logQuery(sequelize, connection, sql, values)
  try {
    return await timedAnswer(connection, answer)
  } catch (error) {
    throw error instanceof Error
      ? formatError(sequelize, connection, sql, Object.assign(error, { parameters: values }))
      : error
  } finally {
    // With `benchmark` it is logged now, whether or not it has failed.
    logged()
  }
}
