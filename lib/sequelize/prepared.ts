import { QueryTypes, type Sequelize } from 'sequelize'
import type { TextColumn } from '../../types/textColumn.js'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { isPending } from '../common/pending.js'
import { causeNow } from '../watch/channels.js'
import { runWatched } from '../watch/statement.js'
import { connectionsFor, limitedTo } from './connections.js'
import { internals } from './internals.js'
import { formatError, logQuery, type RawRow } from './run.js'
import { type Changed, openHandle, type SqliteConnection, type SqliteStatement, sqliteConnection } from './sqlite.js'
import { clockOf, type StatementLimit } from './statementTime.js'
import { isOfText, rowsIn, type TextRow, writesTexts } from './texts.js'
import type { LoneStatement, WriteTransaction } from './writeRun.js'

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
    return this.#prepared(sql, values, (statement, done) => statement.all(values, this.#timed(done)))
  }

  /** The rows of a statement that gives them as one text; null where one of them holds what the text cannot say. */
  async rowsOfText(
    sql: string,
    values: readonly unknown[],
    columns: readonly TextColumn[],
  ): Promise<readonly TextRow[] | null> {
    const isAble = writesTexts(this.#connection)
    if (!(isPending(isAble) ? await isAble : isAble)) return null
    return this.#prepared(sql, values, (statement, done: Done<readonly TextRow[] | null>) => {
      const told = (error: Error | null, rows: readonly RawRow[] = []): void => {
        if (error === null) done(null, rowsIn(rows, columns))
        else if (isOfText(error)) done(null, null)
        else done(error)
      }
      statement.all(values, this.#timed(told))
    })
  }

  /** The rows of a statement that is compiled for this once: large ones would take up the place of many. */
  rowsOnce(sql: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.#run(sql, values, (done) => this.#connection.all(sql, values, done))
  }

  /** The number of rows that the statement changed. */
  affected(sql: string, values: readonly unknown[]): Promise<number> {
    const told = (done: Done<number>): Changed =>
      function (error) {
        done(error, error === null ? this.changes : undefined)
      }
    return this.#prepared(sql, values, (statement, done) => statement.run(values, this.#timed(told(done))))
  }

  /** The same, of a statement for which a clock is looked at where the handle has one. */
  #timed<D extends (...given: never[]) => void>(done: D): D {
    const clock = clockOf(this.#connection)
    return clock === undefined ? done : (clock.watch(done as never) as never)
  }

  #prepared<T>(
    sql: string,
    values: readonly unknown[],
    call: (statement: SqliteStatement, done: Done<T>) => void,
  ): Promise<T> {
    return this.#run(sql, values, (done) => {
      const { statement, ready } = this.#entry(sql)
      if (ready === null) call(statement, done)
      else ready.then(() => call(statement, done)).catch(done)
    })
  }

  /** Runs a statement, of which those are told who listen. */
  #run<T>(sql: string, values: readonly unknown[], call: (done: Done<T>) => void): Promise<T> {
    const cause = causeNow()
    if (cause === undefined) return this.#inTurn(sql, values, call)
    return runWatched(cause, { dialect: 'sqlite', sql }, () => this.#inTurn(sql, values, call), countOf)
  }

  /** Calls the driver when it is this statement's turn. */
  #inTurn<T>(sql: string, values: readonly unknown[], call: (done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const logged = logQuery(this.#sequelize, this.#connection, sql, values)
      const done: Done<T> = (error, value) => {
        this.#running -= 1
        this.#waiting.shift()?.()
        logged()
        if (error === null) resolve(value as T)
        else reject(error instanceof Error ? formatError(this.#sequelize, this.#connection, sql, error) : error)
      }
      const start = (): void => {
        this.#running += 1
        try {
          call(done)
        } catch (error) {
          done(error as Error)
        }
      }
      if (this.#running < WIDTH) start()
      else this.#waiting.push(start)
    })
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
  const created = new PreparedStatements(sequelize, connection)
  statements.set(connection, created)
  return created
}

/** Those of the handle of a transaction that is open. */
export function preparedWithin({ connection, sequelize }: WriteTransaction): PreparedStatements {
  if (connection === undefined) throw new TypeError('a transaction that has begun has a handle')
  return statementsOn(sequelize, connection as object as SqliteConnection)
}
