// Kept for speed: statements of SQLite, prepared on a handle.

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

/** Statements kept per connection, and the bytes of their texts: what a statement takes in the driver grows with its text. */
const CAPACITY = 200
const BYTES = 8 * 1024 * 1024

/** Statements kept per connection besides the first of their texts; how many of one text, and the longest of these. */
const SPARES = 100
const SPARES_EACH = 7
const SPARED = 10_000

/** What is kept of a text: the driver runs a statement once at a time, so brief ones are compiled as often as they run at once. */
interface Entry {
  readonly statement: SqliteStatement
  /** Rejects where the text does not compile; null once it is known to. */
  ready: Promise<void> | null
  /** Whether its text did not compile: the driver has let go of it. */
  isVoid: boolean
  /** Those of the text that nobody runs. */
  readonly idle: SqliteStatement[]
  readonly spares: Set<SqliteStatement>
}

/** Told how a call of the driver has ended. */
type Done<T> = (error: Error | null, value?: T) => void

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
    // A handle with statements on it refuses to close.
    const close = connection.close.bind(connection)
    connection.close = (done) => {
      this.#isClosing = true
      this.#entries.clear()
      close((error) => {
        // It stays open where somebody else has statements on it.
        if (error !== null) this.#isClosing = false
        done?.(error)
      })
    }
  }

  /** `isBrief` says that the statement reads one record, which it finds by its key, or a few found so. */
  rows(sql: string, values: readonly unknown[], isBrief: boolean): Promise<readonly RawRow[]> {
    return this.#prepared(sql, values, isBrief, (statement, done) => statement.all(values, this.#timed(done)))
  }

  /** The rows of a statement that is compiled for this once: large ones would take up the place of many. */
  rowsOnce(sql: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.#run(sql, values, false, (done) => this.#connection.all(sql, values, done))
  }

  /** The number of rows that the statement changed. */
  affected(sql: string, values: readonly unknown[]): Promise<number> {
    const told = (done: Done<number>): Changed =>
      function (error) {
        done(error, error === null ? this.changes : undefined)
      }
    return this.#prepared(sql, values, false, (statement, done) => statement.run(values, this.#timed(told(done))))
  }

  /** The same, of a statement for which a clock is looked at where the handle has one. */
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
      // Where none is idle, the driver runs it when it has done with the statement.
      const statement = taken ?? entry.statement
      const over: Done<T> = (error, value) => {
        if (taken !== undefined) idle.push(taken)
        done(error, value)
      }
      const ended: Done<T> = (error, value) => {
        if (error === null) over(error, value)
        // The driver leaves one that found the file locked under way. While it is, SQLite commits nothing that is written on the handle, and
        // undoes it all at its end. So that is asked for at once: what waits until the handle is idle waits for it too.
        else statement.reset(() => over(error))
      }
      if (ready === null) call(statement, ended)
      // What does not compile is let go of by the driver.
      else ready.then(() => call(statement, ended)).catch(done)
    })
  }

  /** Runs a statement, of which those are told who listen. */
  #run<T>(sql: string, values: readonly unknown[], isBrief: boolean, call: (done: Done<T>) => void): Promise<T> {
    const cause = causeNow()
    if (cause === undefined) return this.#inTurn(sql, values, isBrief, call)
    return runWatched(cause, { dialect: 'sqlite', sql }, () => this.#inTurn(sql, values, isBrief, call), countOf)
  }

  /** Calls the driver when it is this statement's turn. */
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

  /** Compiles a text once more, for the next who find none of its statements idle. */
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

/** As the driver says it. */
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

/** Those of the handle on which Sequelize runs what belongs to no transaction: at once, where it is open. */
export function preparedOf(sequelize: Sequelize): PreparedStatements | Promise<PreparedStatements> {
  const { getConnection } = internals(sequelize).connectionManager
  const last = lasts.get(sequelize)
  // Closing puts another function in the place of this one.
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

/** Those of the handle that a write of one statement has. */
export function preparedAlone({ sequelize, connection }: LoneStatement): ReturnType<typeof preparedOf> {
  return connection === undefined ? preparedOf(sequelize) : statementsOn(sequelize, connection as SqliteConnection)
}

/** Does something on a handle that nobody else has meanwhile, for as long as its statement may take. */
export async function onTimedHandle<T>(
  sequelize: Sequelize,
  limit: StatementLimit,
  work: (statements: PreparedStatements) => Promise<T>,
): Promise<T> {
  const connections = connectionsFor(sequelize)
  const handle = await connections.getConnection({ type: QueryTypes.SELECT, ...limitedTo(limit) })
  try {
    return await work(statementsOn(sequelize, handle as SqliteConnection))
  } finally {
    connections.releaseConnection(handle)
  }
}

function statementsOn(sequelize: Sequelize, connection: SqliteConnection): PreparedStatements {
  const known = statements.get(connection)
  if (known !== undefined) return known
  const created = new PreparedStatements(sequelize, connection, connection === openHandle(sequelize))
  statements.set(connection, created)
  return created
}

/** Those of the handle of a transaction that is open. */
export function preparedWithin({ connection, sequelize }: WriteTransaction): PreparedStatements {
  if (connection === undefined) throw new TypeError('a transaction that has begun has a handle')
  return statementsOn(sequelize, connection as object as SqliteConnection)
}
