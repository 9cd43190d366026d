// The handle of the sqlite3 driver, as far as prepared statements need it.

import type { Sequelize } from 'sequelize'
import { internals } from './internals.js'
import type { RawRow } from './run.js'

/** Told how many rows a statement has changed. */
export type Changed = (this: { changes: number }, error: Error | null) => void

/** A handle of the sqlite3 driver, as far as prepared statements need it. */
export interface SqliteConnection {
  readonly filename: string
  all(sql: string, values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(sql: string, values: readonly unknown[], done: Changed): void
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement
  close(done?: (error: Error | null) => void): void
  /** Has what is asked for meanwhile run by itself, when nothing else runs on the handle. */
  serialize(work?: () => void): unknown
  /** Calls when nothing runs on the handle. */
  wait(done: () => void): void
}

export interface SqliteStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(values: readonly unknown[], done: Changed): void
  /** Ends what it has not brought to an end by itself. */
  reset(done: () => void): void
  finalize(): void
}

/** The same where it is open: that of a file, or the only one of a database in memory. */
export function openHandle(sequelize: Sequelize): object | null {
  const { connections = {} } = internals(sequelize).connectionManager
  const handle = connections.default ?? connections[1]
  return typeof handle === 'object' ? handle : null
}

/** The handle on which Sequelize runs what belongs to no transaction; it opens it where that has not happened yet. */
export async function sqliteConnection(sequelize: Sequelize): Promise<SqliteConnection> {
  return internals(sequelize).connectionManager.getConnection({ type: 'SELECT' }) as Promise<SqliteConnection>
}
