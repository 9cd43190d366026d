// Kept for speed: prepared statements on a SQLite connection.

import { QueryTypes, type Sequelize } from 'sequelize'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { causeNow } from '../watch/channels.js'
import { runWatched } from '../watch/statement.js'
import { connectionsFor, limitedTo } from './connections.js'
import { internals } from './internals.js'
import { Line } from './line.js'
import { formatError, logQuery, type RawRow } from './run.js'
import { type Changed, openHandle, type SqliteConnection, type SqliteStatement, sqliteConnection } from './sqlite.js'
import { clockOf, type StatementLimit } from './statementTime.js'
import type { LoneStatement, WriteTransaction } from './writeRun.js'

/** Maximum number of statements per connection, and of the bytes of their texts. The driver's memory per statement grows with its text. */
const CAPACITY = 200
const BYTES = 8 * 1024 * 1024

/** Maximum number of additional statements per connection, their number per text, and their maximum length. */
const SPARES = 100
const SPARES_EACH = 7
const SPARED = 10_000

/** Statements of one text. The driver runs a statement once at a time, so short ones are compiled several times to run concurrently. */
interface Entry {
  readonly statement: SqliteStatement
  /** Rejects if the text does not compile. Null after a successful compilation. */
  ready: Promise<void> | null
  /** Whether the text did not compile. Then the driver has released the statement. */
  isVoid: boolean
  /** Idle statements of the text. */
  readonly idle: SqliteStatement[]
  readonly spares: Set<SqliteStatement>
}

/** Callback of a driver call. */
type Done<T> = (error: Error | null, value?: T) => void

/** Prepared statements of one SQLite connection. Compiling costs about as much as running, and Sequelize compiles every time. */
export class PreparedStatements {
  readonly #sequelize: Sequelize
  readonly #connection: SqliteConnection
  readonly #entries = new BoundedCache<string, Entry>({
    entries: CAPACITY,
    bytes: BYTES,
    // The statement to run is kept, however long it is.
    weigh: (sql) => Math.min(bytesOf(sql), BYTES),
    // The driver waits until a running statement ends.
    onRemove: ({ statement, isVoid, spares }) => {
      if (!isVoid) statement.finalize()
      for (const spare of spares) spare.finalize()
      this.#spares -= spares.size
      spares.clear()
    },
  })
  readonly #line: Line
  #spares = 0
  #isClosing = false

  constructor(sequelize: Sequelize, connection: SqliteConnection, isShared: boolean) {
    this.#sequelize = sequelize
    this.#connection = connection
    this.#line = new Line(connection, isShared)
    // A connection with open statements refuses to close.
    const close = connection.close.bind(connection)
    connection.close = (done) => {
      this.#isClosing = true
      this.#entries.clear()
      close((error) => {
        // It stays open if other code has statements on it.
        if (error !== null) this.#isClosing = false
        done?.(error)
      })
    }
  }

  /** Rows of a statement. `isBrief`: it reads one or a few records by key. */
  rows(sql: string, values: readonly unknown[], isBrief: boolean): Promise<readonly RawRow[]> {
    return this.#prepared(sql, values, isBrief, (statement, done) => statement.all(values, this.#timed(done)))
  }

  /** Rows of a statement that is compiled for one run, because a large statement would displace many others. */
  rowsOnce(sql: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.#run(sql, values, false, (done) => this.#connection.all(sql, values, done))
  }

  /** Number of rows that the statement changed. */
  affected(sql: string, values: readonly unknown[]): Promise<number> {
    const told = (done: Done<number>): Changed =>
      function (error) {
        done(error, error === null ? this.changes : undefined)
      }
    return this.#prepared(sql, values, false, (statement, done) => statement.run(values, this.#timed(told(done))))
  }

  /** Applies the statement timeout of the connection to a callback, if it has one. */
  #timed<D extends (...given: never[]) => void>(done: D): D {
    const clock = clockOf(this.#connection)
    return clock === undefined ? done : (clock.watch(done as never) as never)
  }

  #prepared<T>(
    sql: string,
    values: readonly unknown[],
    isBrief: boolean,
    call: (statement: SqliteStatement, done: Done<T>) => void,
  ): Promise<T> {
    return this.#run(sql, values, isBrief, (done) => {
      const entry = this.#entry(sql)
      const { ready, idle } = entry
      const taken = isBrief && ready === null ? idle.pop() : undefined
      if (isBrief && ready === null && taken === undefined) this.#spare(sql, entry)
      // If no statement is idle, the driver queues the call.
      const statement = taken ?? entry.statement
      let isReset = false
      const ended: Done<T> = (error, value) => {
        if (error !== null && !isReset) {
          // The driver does not reset a statement that found the file locked. Until then SQLite commits no write on the connection, and rolls
          // them back at its end. So the statement is reset at once; callers that need the connection idle wait for the reset, too.
          isReset = true
          statement.reset(() => ended(error))
          return
        }
        if (taken !== undefined) idle.push(taken)
        done(error, value)
      }
      if (ready === null) call(statement, ended)
      // The driver itself releases a statement that does not compile.
      else ready.then(() => call(statement, ended)).catch(done)
    })
  }

  /** Runs a statement and publishes it to listeners. */
  #run<T>(sql: string, values: readonly unknown[], isBrief: boolean, call: (done: Done<T>) => void): Promise<T> {
    const cause = causeNow()
    if (cause === undefined) return this.#inTurn(sql, values, isBrief, call)
    return runWatched(cause, { dialect: 'sqlite', sql }, () => this.#inTurn(sql, values, isBrief, call), countOf)
  }

  /** Calls the driver when the queue starts the statement. */
  #inTurn<T>(sql: string, values: readonly unknown[], isBrief: boolean, call: (done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const logged = logQuery(this.#sequelize, this.#connection, sql, values)
      const done: Done<T> = (error, value) => {
        this.#line.leave()
        logged()
        if (error === null) resolve(value as T)
        else reject(error instanceof Error ? formatError(this.#sequelize, this.#connection, sql, error) : error)
      }
      this.#line.enter(isBrief, () => {
        try {
          if (this.#isClosing) throw closed()
          call(done)
        } catch (error) {
          done(error as Error)
        }
      })
    })
  }

  /** Compiles another statement of a text for future concurrent runs. */
  #spare(sql: string, entry: Entry): void {
    const { spares, idle } = entry
    if (spares.size >= SPARES_EACH || this.#spares >= SPARES || sql.length > SPARED) return
    this.#spares += 1
    const statement = this.#connection.prepare(sql, (error) => {
      if (error === null) idle.push(statement)
      else if (spares.delete(statement)) this.#spares -= 1
    })
    spares.add(statement)
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
    const entry: Entry = { statement, ready: promise, isVoid: false, idle: [statement], spares: new Set() }
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

/** The driver's own error for a closed connection. */
function closed(): Error {
  return Object.assign(new Error('SQLITE_MISUSE: Database is closed'), { code: 'SQLITE_MISUSE', errno: 21 })
}

function countOf(outcome: unknown): number | null {
  if (Array.isArray(outcome)) return outcome.length
  return typeof outcome === 'number' ? outcome : null
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

/** Prepared statements of the connection that Sequelize uses outside of transactions. Synchronous if the connection is open. */
export function preparedOf(sequelize: Sequelize): PreparedStatements | Promise<PreparedStatements> {
  const { getConnection } = internals(sequelize).connectionManager
  const last = lasts.get(sequelize)
  // Closing replaces this function.
  if (last?.getConnection === getConnection && last.handle === openHandle(sequelize)) return last.statements
  return opened(sequelize, getConnection)
}

interface Last {
  readonly getConnection: unknown
  readonly handle: object
  readonly statements: PreparedStatements
}

const lasts = new WeakMap<Sequelize, Last>()

async function opened(sequelize: Sequelize, getConnection: unknown): Promise<PreparedStatements> {
  const handle = await sqliteConnection(sequelize)
  const statements = statementsOn(sequelize, handle)
  lasts.set(sequelize, { getConnection, handle, statements })
  return statements
}

/** Prepared statements of the connection for a write of one statement. */
export function preparedAlone({ sequelize, connection }: LoneStatement): ReturnType<typeof preparedOf> {
  return connection === undefined ? preparedOf(sequelize) : statementsOn(sequelize, connection)
}

/** Runs work on an exclusive connection, within the statement timeout. */
export async function onTimedHandle<T>(
  sequelize: Sequelize,
  limit: StatementLimit,
  work: (statements: PreparedStatements) => Promise<T>,
): Promise<T> {
  const connections = connectionsFor(sequelize)
  const handle = await connections.getConnection({ type: QueryTypes.SELECT, ...limitedTo(limit) })
  try {
    return await work(statementsOn(sequelize, handle))
  } finally {
    connections.releaseConnection(handle)
  }
}

/** Prepared statements of a connection of the driver sqlite3. */
export function statementsOn(sequelize: Sequelize, given: object): PreparedStatements {
  const connection = given as SqliteConnection
  const known = statements.get(connection)
  if (known !== undefined) return known
  const created = new PreparedStatements(sequelize, connection, connection === openHandle(sequelize))
  statements.set(connection, created)
  return created
}

/** Prepared statements of an open transaction's connection. */
export function preparedWithin({ connection, sequelize }: WriteTransaction): PreparedStatements {
  if (connection === undefined) throw new TypeError('a transaction that has begun has a handle')
  return statementsOn(sequelize, connection)
}
