// Connections and statements of sqlite3, as far as prepared statements use them.

import type { Sequelize } from 'sequelize'
import { internalsOf } from './internals.js'
import type { RawRow } from './run.js'

/** Callback with the number of changed rows. */
export type ChangedCallback = (this: { changes: number }, error: Error | null) => void

/** An sqlite3 connection, as far as prepared statements use it. */
export interface SqliteConnection {
  readonly filename: string
  /** Name of the transaction that uses the connection. */
  uuid?: string | undefined
  all(sql: string, values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(sql: string, values: readonly unknown[], done: ChangedCallback): void
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement
  close(done?: (error: Error | null) => void): void
  /** Runs the statements of `work` exclusively, when the connection is idle. */
  serialize(work?: () => void): unknown
  /** Calls back when the connection is idle. */
  wait(done: () => void): void
}

export interface SqliteStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(values: readonly unknown[], done: ChangedCallback): void
  /** Resets a statement that has not finished. */
  reset(done: () => void): void
  finalize(): void
}

/**
 * Returns the open connection: of a file, or the only connection of a database in memory. Returns null if no connection
 * is open.
 */
export function openConnectionOf(sequelize: Sequelize): object | null {
  const { connections = {} } = internalsOf(sequelize).connectionManager
  const connection = connections.default ?? connections[1]
  return typeof connection === 'object' ? connection : null
}

/** Connection that Sequelize has opened, with the function that opened it. */
interface OpenedConnection {
  readonly getConnection: unknown
  readonly connection: SqliteConnection
}

const lastOpened = new WeakMap<Sequelize, OpenedConnection>()

/**
 * Returns the connection that Sequelize uses outside of transactions, or null if it must be opened. After Sequelize is
 * closed, `getConnection` is another function, and the result is null.
 */
export function sharedConnectionOf(sequelize: Sequelize): SqliteConnection | null {
  const last = lastOpened.get(sequelize)
  if (last?.getConnection !== internalsOf(sequelize).connectionManager.getConnection) return null
  return last.connection === openConnectionOf(sequelize) ? last.connection : null
}

/** Opens the connection that Sequelize uses outside of transactions, if it is not open. */
export async function requireSqliteConnection(sequelize: Sequelize): Promise<SqliteConnection> {
  const manager = internalsOf(sequelize).connectionManager
  const { getConnection } = manager
  const connection = (await manager.getConnection({ type: 'SELECT' })) as SqliteConnection
  lastOpened.set(sequelize, { getConnection, connection })
  return connection
}
