// Connections and statements of sqlite3, as far as prepared statements use them.

import type { Sequelize } from 'sequelize'
import { internalsOf } from './internals.js'
import type { RawRow } from './run.js'

/** Callback with the number of changed rows. */
export type ChangedCallback = (this: { changes: number }, error: Error | null) => void

/** An sqlite3 connection, as far as prepared statements use it. */
export interface SqliteConnection {
  readonly filename: string
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

/** Returns the connection that Sequelize uses outside of transactions. Opens the connection if necessary. */
export async function requireSqliteConnection(sequelize: Sequelize): Promise<SqliteConnection> {
  return internalsOf(sequelize).connectionManager.getConnection({ type: 'SELECT' }) as Promise<SqliteConnection>
}
