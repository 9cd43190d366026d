import type { Sequelize } from 'sequelize'
import { internalsOf } from './internals.js'

/** A connection of the sqlite3 driver. `uuid` identifies its transaction. */
interface SqliteConnection {
  readonly filename: string
  readonly uuid?: string | undefined
  interrupt(): void
  serialize(work: () => void): void
  run(sql: string, done: () => void): void
  all(sql: string, done: (error: Error | null, rows?: Readonly<Record<string, unknown>>[]) => void): void
  close(done: () => void): void
}

/** Sequelize's SQLite connections, by name: the id of a transaction, or `default`. A database in memory has one. */
interface SqliteConnectionManager {
  readonly connections: Record<string | number, SqliteConnection>
  getConnection(options?: SqliteConnectionOptions): Promise<SqliteConnection>
  destroyConnection(connection: SqliteConnection): Promise<void>
}

/** Argument of `getConnection`, which modifies the argument. */
interface SqliteConnectionOptions {
  readonly uuid?: string
  readonly inMemory?: number
}

const fixedManagers = new WeakSet<SqliteConnectionManager>()

/** Prefix for the names of connections that this package opens. */
const OWN_PREFIX = 'crud-'

/**
 * Makes Sequelize close broken SQLite connections. Sequelize itself keeps a connection whose BEGIN, COMMIT or ROLLBACK
 * failed, with its locks, until the process ends. Sequelize also keeps a connection that failed to open, so that the
 * file stays unreachable. The fix applies to the host's own transactions as well.
 */
export function fixSqliteConnections(sequelize: Sequelize): void {
  const manager = internalsOf(sequelize).connectionManager as object as SqliteConnectionManager
  if (fixedManagers.has(manager)) return
  fixedManagers.add(manager)
  const open = manager.getConnection
  manager.getConnection = async (options: SqliteConnectionOptions = {}) => {
    const { uuid = 'default' } = options
    const known = manager.connections[uuid]
    try {
      const connection = await open.call(manager, options)
      if (connection !== known && uuid.startsWith(OWN_PREFIX))
        await copySettings(manager.connections.default, connection)
      return connection
    } catch (error) {
      delete manager.connections[options.inMemory || uuid]
      throw error
    }
  }
  manager.destroyConnection = async (connection) => {
    if (connection.filename === ':memory:') return rollBack(connection)
    for (const [name, each] of Object.entries(manager.connections)) {
      if (each === connection) delete manager.connections[name]
    }
    return rollBackAndClose(connection)
  }
}

/** Pragmas that the host sets on one connection and that should apply to all connections. */
const SETTINGS = [
  ...['synchronous', 'busy_timeout', 'cache_size', 'mmap_size', 'temp_store', 'foreign_keys', 'fullfsync'],
  ...['ignore_check_constraints', 'recursive_triggers', 'secure_delete', 'wal_autocheckpoint'],
]

/** Copies the settings of one connection to another. Settings that the SQLite build does not know are skipped. */
async function copySettings(from: SqliteConnection | undefined, to: SqliteConnection): Promise<void> {
  if (from === undefined || from === to) return
  for (const name of SETTINGS) {
    const value = await new Promise<unknown>((resolve) => {
      from.all(`PRAGMA ${name}`, (_error, rows = []) => resolve(Object.values(rows[0] ?? {})[0]))
    })
    if (typeof value === 'number') {
      await new Promise<void>((resolve) => to.run(`PRAGMA ${name} = ${value}`, () => resolve()))
    }
  }
}

/**
 * Rolls back instead of closing. All requests share the connection of a database in memory, and closing this connection
 * would delete the data.
 */
function rollBack(connection: SqliteConnection): Promise<void> {
  return new Promise((resolve) => {
    connection.serialize(() => connection.run('ROLLBACK', resolve))
  })
}

/**
 * Ends the transaction and closes the connection without waiting for the current statement. All commands are queued at
 * once, so that no other statement comes between. A command may fail if there is nothing to end.
 */
function rollBackAndClose(connection: SqliteConnection): Promise<void> {
  interruptStatement(connection)
  return new Promise((resolve) => {
    connection.serialize(() => connection.run('ROLLBACK', () => undefined))
    connection.close(() => resolve())
  })
}

/** Interrupts the running statement of a connection. */
export function interruptStatement(connection: object): void {
  try {
    if ('interrupt' in connection && typeof connection.interrupt === 'function') connection.interrupt()
  } catch {
    // The connection is already closing.
  }
}
