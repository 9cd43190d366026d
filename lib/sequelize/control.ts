// Kept for speed: how transactions begin and end on a connection: past Sequelize where nobody of the host's asks more of a query than that it
// runs, since its own way of running one costs as much as the rest of a small request.

import type { Sequelize } from 'sequelize'
import { isFast } from '../common/speed.js'
import { causeNow } from '../watch/channels.js'
import type { Connection } from './connections.js'
import { internals } from './internals.js'
import { answered } from './pooled.js'
import { runsServerQueries, SQLITE_BUSY } from './run.js'
import { canSend, sendText } from './send.js'

/** Has a connection do this; null where it is for Sequelize to do. */
export function control(sequelize: Sequelize, connection: Connection, sql: string): Promise<unknown> | null {
  // Of those who are watched somebody is told by `query`.
  if (!isFast || !canSend(sequelize) || causeNow() !== undefined || !runsServerQueries(sequelize)) return null
  return answered(sequelize, connection, { sql, values: [] }, sendText(sequelize, connection, sql))
}

/** How often Sequelize would still try what has failed once: by itself it does so where SQLite was too busy. */
export function triesLeft(sequelize: Sequelize, error: unknown): number {
  const { max = 1 } = internals(sequelize).options.retry ?? {}
  return error instanceof Error && error.message.includes(SQLITE_BUSY) ? max - 1 : 0
}
