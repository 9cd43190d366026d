// Kept for speed: runs BEGIN, COMMIT and ROLLBACK directly on the driver, if no hook or option of the host must see the query. Sequelize's
// `query` costs as much as the rest of a small request.

import type { Sequelize } from 'sequelize'
import { isFast } from '../common/fastPaths.js'
import { currentCause } from '../trace/channels.js'
import type { Connection } from './connections.js'
import { internalsOf } from './internals.js'
import { awaitAnswer } from './pooledConnections.js'
import { statementsOfConnection } from './preparedStatements.js'
import { canRunServerQueries, SQLITE_BUSY } from './run.js'
import { canSend, sendText } from './send.js'

/** Runs a control statement on a connection. Returns null if Sequelize must run the statement. */
export function runControl(sequelize: Sequelize, connection: Connection, sql: string): Promise<unknown> | null {
  // Traced requests use `query`, which publishes the statements.
  if (!isFast || !canSend(sequelize) || currentCause() !== undefined || !canRunServerQueries(sequelize)) return null
  if (sequelize.getDialect() === 'sqlite')
    return statementsOfConnection(sequelize, connection).readRows({ sql, values: [] })
  return awaitAnswer(sequelize, connection, { sql, values: [] }, sendText(sequelize, connection, sql))
}

/**
 * Returns the number of attempts that Sequelize would still make after an error. By default Sequelize retries only if
 * SQLite is busy.
 */
export function remainingAttempts(sequelize: Sequelize, error: unknown): number {
  const { max = 1 } = internalsOf(sequelize).options.retry ?? {}
  return error instanceof Error && error.message.includes(SQLITE_BUSY) ? max - 1 : 0
}
