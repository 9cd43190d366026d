import type { Sequelize } from 'sequelize'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { formatError, logQuery, type RawRow } from './run.js'
import { type SqliteConnection, type SqliteStatement, sqliteConnection } from './sqlite.js'

/** Statements kept per connection, and the bytes of their texts: what a statement takes in the driver grows with its text. */
const CAPACITY = 200
const BYTES = 8 * 1024 * 1024

/** Statements under way at once: one runs, the next waits for the handle, and the other threads stay free. */
const WIDTH = 2

interface Entry {
  readonly statement: SqliteStatement
  /** Rejects where the text does not compile; null once it is known to. */
  ready: Promise<void> | null
  /** Whether its text did not compile: the driver has let go of it. */
  isVoid: boolean
}

/**
 * The prepared statements of one SQLite connection. Compiling a statement costs about as much as running it, and
 * Sequelize compiles each one every time.
 */
export class PreparedStatements {
  readonly #sequelize: Sequelize
  readonly #connection: SqliteConnection
  readonly #entries = new BoundedCache<string, Entry>({
    entries: CAPACITY,
    bytes: BYTES,
    // Whatever its length, the statement that is about to run is kept.
    weigh: (sql) => Math.min(bytesOf(sql), BYTES),
    // The driver waits for a statement that is running.
    onRemove: ({ statement, isVoid }) => {
      if (!isVoid) statement.finalize()
    },
  })
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(sequelize: Sequelize, connection: SqliteConnection) {
    this.#sequelize = sequelize
    this.#connection = connection
    // A handle with statements on it refuses to close.
    const close = connection.close.bind(connection)
    connection.close = (done) => {
      this.#entries.clear()
      close(done)
    }
  }

  rows(sql: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.#run(sql, values, (statement, resolve, reject) => {
      statement.all(values, (error, rows) => (error === null ? resolve(rows ?? []) : reject(error)))
    })
  }

  /** The number of rows that the statement changed. */
  affected(sql: string, values: readonly unknown[]): Promise<number> {
    return this.#run(sql, values, (statement, resolve, reject) => {
      statement.run(values, function (error) {
        if (error === null) resolve(this.changes)
        else reject(error)
      })
    })
  }

  async #run<T>(
    sql: string,
    values: readonly unknown[],
    call: (statement: SqliteStatement, resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    const done = logQuery(this.#sequelize, this.#connection, sql, values)
    if (this.#running >= WIDTH) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running += 1
    try {
      const entry = this.#entry(sql)
      if (entry.ready !== null) await entry.ready
      return await new Promise<T>((resolve, reject) => call(entry.statement, resolve, reject))
    } catch (error) {
      throw error instanceof Error ? formatError(this.#sequelize, this.#connection, sql, error) : error
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
      done()
    }
  }

  #entry(sql: string): Entry {
    const known = this.#entries.get(sql)
    if (known !== undefined) return known
    const entry = this.#prepare(sql)
    this.#entries.set(sql, entry)
    return entry
  }

  #prepare(sql: string): Entry {
    const { promise, resolve, reject } = deferred()
    const statement = this.#connection.prepare(sql, (error) => (error === null ? resolve() : reject(error)))
    const entry: Entry = { statement, ready: promise, isVoid: false }
    promise.then(
      () => {
        entry.ready = null
      },
      () => {
        entry.isVoid = true
        this.#entries.delete(sql)
      },
    )
    return entry
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

const statements = new WeakMap<SqliteConnection, PreparedStatements>()

/** Those of the handle on which Sequelize runs what belongs to no transaction. */
export async function preparedOf(sequelize: Sequelize): Promise<PreparedStatements> {
  const connection = await sqliteConnection(sequelize)
  const known = statements.get(connection)
  if (known !== undefined) return known
  const created = new PreparedStatements(sequelize, connection)
  statements.set(connection, created)
  return created
}
