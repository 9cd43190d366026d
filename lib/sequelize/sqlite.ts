// The handle of the sqlite3 driver, as far as prepared statements need it.

import type { Sequelize } from 'sequelize'
import { internals } from './internals.js'
import type { RawRow } from './run.js'

/** A handle of the sqlite3 driver, as far as prepared statements need it. */
export interface SqliteConnection {
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement
  close(done?: (error: Error | null) => void): void
}

export interface SqliteStatement {
  all(values: readonly unknown[], done: (error: Error | null, rows?: RawRow[]) => void): void
  run(values: readonly unknown[], done: (this: { changes: number }, error: Error | null) => void): void
  finalize(): void
}

/** The handle on which Sequelize runs what belongs to no transaction; it opens it where that has not happened yet. */
export async function sqliteConnection(sequelize: Sequelize): Promise<SqliteConnection> {
  return internals(sequelize).connectionManager.getConnection({ type: 'SELECT' }) as Promise<SqliteConnection>
}
