// Kept for speed: runs BEGIN, COMMIT and ROLLBACK directly on the driver, if no hook or option of the host must see the query. Sequelize's
// `query` costs as much as the rest of a small request.

import type { Sequelize } from 'sequelize'
import { isFast } from '../common/speed.js'
import { causeNow } from '../watch/channels.js'
import type { Connection } from './connections.js'
import { internals } from './internals.js'
import { answered } from './pooled.js'
import { statementsOn } from './prepared.js'
import { runsServerQueries, SQLITE_BUSY } from './run.js'
import { canSend, sendText } from './send.js'

/** Runs a control statement on a connection. Null if Sequelize must run it. */
export function control(sequelize: Sequelize, connection: Connection, sql: string): Promise<unknown> | null {
  // Watched requests use `query`, which publishes the statements.
  if (!isFast || !canSend(sequelize) || causeNow() !== undefined || !runsServerQueries(sequelize)) return null
  if (sequelize.getDialect() === 'sqlite') return statementsOn(sequelize, connection).rows(sql, [], false)
  return answered(sequelize, connection, { sql, values: [] }, sendText(sequelize, connection, sql))
}

/** Number of attempts that Sequelize would still make after an error. By default it retries if SQLite is busy. */
export function triesLeft(sequelize: Sequelize, error: unknown): number {
  const { max = 1 } = internals(sequelize).options.retry ?? {}
  return error instanceof Error && error.message.includes(SQLITE_BUSY) ? max - 1 : 0
}
