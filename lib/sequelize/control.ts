// How transactions begin and end on a connection: past Sequelize where nobody of the host's asks more of a query than that it
// runs, since its own way of running one costs as much as the rest of a small request.

import type { Sequelize } from 'sequelize'
import { causeNow } from '../watch/channels.js'
import type { Connection } from './connections.js'
import { internals } from './internals.js'
import { answered } from './pooled.js'
import { runsServerQueries, SQLITE_BUSY } from './run.js'

type Done = (error: Error | null | undefined, result?: unknown) => void

/** The methods of drivers that take a text; that of mariadb gives a promise. */
interface Driven extends Connection {
  query(sql: string, done?: Done): unknown
  run(sql: string, done: Done): unknown
}

/** By Sequelize's names for its drivers. */
const SENDS: Readonly<Record<string, (connection: Driven, sql: string) => Promise<unknown>>> = {
  sqlite: (connection, sql) => told((done) => connection.run(sql, done)),
  postgres: (connection, sql) => told((done) => connection.query(sql, done)),
  mysql: (connection, sql) => told((done) => connection.query(sql, done)),
  mariadb: async (connection, sql) => connection.query(sql),
}

function told(send: (done: Done) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    send((error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** Has a connection do this; null where it is for Sequelize to do. */
export function control(sequelize: Sequelize, connection: Connection, sql: string): Promise<unknown> | null {
  const name = sequelize.getDialect()
  const send = Object.hasOwn(SENDS, name) ? SENDS[name] : undefined
  // Of those who are watched somebody is told by `query`.
  if (send === undefined || causeNow() !== undefined || !runsServerQueries(sequelize)) return null
  return answered(sequelize, connection, { sql, values: [] }, send(connection as Driven, sql))
}

/** How often Sequelize would still try what has failed once: by itself it does so where SQLite was too busy. */
export function triesLeft(sequelize: Sequelize, error: unknown): number {
  const { max = 1 } = internals(sequelize).options.retry ?? {}
  return error instanceof Error && error.message.includes(SQLITE_BUSY) ? max - 1 : 0
}
