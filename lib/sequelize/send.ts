// Sends SQL text directly to a connection of any driver.

import type { Sequelize } from 'sequelize'
import { internalError } from '../common/internalError.js'
import type { Connection } from './connections.js'

type SendCallback = (error: Error | null | undefined, result?: unknown) => void

/** Driver methods that take SQL text. The method of mariadb returns a promise. */
interface DriverConnection extends Connection {
  query(sql: string, done?: SendCallback): unknown
  run(sql: string, done: SendCallback): unknown
}

/** Functions that send text, by Sequelize's dialect name. */
const SENDS: Readonly<Record<string, (connection: DriverConnection, sql: string) => Promise<unknown>>> = {
  sqlite: (connection, sql) => toPromise((done) => connection.run(sql, done)),
  postgres: (connection, sql) => toPromise((done) => connection.query(sql, done)),
  mysql: (connection, sql) => toPromise((done) => connection.query(sql, done)),
  mariadb: async (connection, sql) => connection.query(sql),
}

function toPromise(send: (done: SendCallback) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    send((error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** Whether this file supports the driver of a Sequelize instance. */
export function canSend(sequelize: Sequelize): boolean {
  return Object.hasOwn(SENDS, sequelize.getDialect())
}

/** Sends SQL text directly to a connection and returns the driver's result. */
export async function sendText(sequelize: Sequelize, connection: Connection, sql: string): Promise<unknown> {
  const name = sequelize.getDialect()
  const send = Object.hasOwn(SENDS, name) ? SENDS[name] : undefined
  if (send === undefined) throw internalError(`no statement can be sent to a database of the dialect "${name}"`)
  return send(connection as DriverConnection, sql)
}
