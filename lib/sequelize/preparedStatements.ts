// Kept for speed: prepared statements on a SQLite connection.

import { QueryTypes, type Sequelize } from 'sequelize'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { traceStatement } from '../trace/statement.js'
import { connectionsFor, limitOptionsOf } from './connections.js'
import { internalsOf } from './internals.js'
import { formatError, logQuery, type RawRow } from './run.js'
import {
  type ChangedCallback,
  openConnectionOf,
  requireSqliteConnection,
  type SqliteConnection,
  type SqliteStatement,
} from './sqlite.js'
import { StatementQueue } from './statementQueue.js'
import { type StatementLimit, timerOf } from './statementTimeout.js'

/**
 * Maximum number of statements per connection, and maximum bytes of their texts. The driver's memory per statement
 * grows with its text.
 */
const CAPACITY = 200
const BYTES = 8 * 1024 * 1024

/** Limits of duplicates: their number per connection, their number per text, and the length of their text. */
const MAX_DUPLICATES = 100
const MAX_DUPLICATES_PER_TEXT = 7
const MAX_DUPLICATE_LENGTH = 10_000

/**
 * Statements of one text. The driver runs a statement once at a time, so a short text is compiled several times to run
 * concurrently.
 */
interface PreparedText {
  readonly statement: SqliteStatement
  /** Rejects if the text does not compile. Null after a successful compilation. */
  compilation: Promise<void> | null
  /** Whether the text did not compile. In this case the driver has already released the statement. */
  hasFailed: boolean
  /** Idle statements of the text. */
  readonly idle: SqliteStatement[]
  readonly duplicates: Set<SqliteStatement>
}

/** A statement to run, with its values. */
export interface PreparedRun {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Whether the statement reads one or a few records by key. Default: false. */
  readonly isBrief?: boolean | undefined
  /**
   * Whether the statement is kept for other runs. In the cache, a large statement would displace many statements.
   * Default: true.
   */
  readonly isReusable?: boolean
}

/** Callback of a driver call. */
type DriverCallback<T> = (error: Error | null, value?: T) => void

/** Prepared statements of one SQLite connection. Compiling costs about as much as running, and Sequelize compiles every time. */
export class PreparedStatements {
  readonly #sequelize: Sequelize
  readonly #connection: SqliteConnection
  readonly #textsBySql = new BoundedCache<string, PreparedText>({
    entries: CAPACITY,
    bytes: BYTES,
    // The size is capped, so that the cache keeps the current statement, however long it is.
    estimateSize: (sql) => Math.min(estimateStringBytes(sql), BYTES),
    // `finalize` waits until a running statement ends.
    onRemove: ({ statement, hasFailed, duplicates }) => {
      if (!hasFailed) statement.finalize()
      for (const duplicate of duplicates) duplicate.finalize()
      this.#duplicateCount -= duplicates.size
      duplicates.clear()
    },
  })
  readonly #queue: StatementQueue
  #duplicateCount = 0
  #isClosing = false

  constructor(sequelize: Sequelize, connection: SqliteConnection, isShared: boolean) {
    this.#sequelize = sequelize
    this.#connection = connection
    this.#queue = new StatementQueue(connection, isShared)
    // The driver does not close a connection that has open statements.
    const close = connection.close.bind(connection)
    connection.close = (done) => {
      this.#isClosing = true
      this.#textsBySql.clear()
      close((error) => {
        // The connection stays open if other code has open statements.
        if (error !== null) this.#isClosing = false
        done?.(error)
      })
    }
  }

  readRows({ sql, values, isBrief = false, isReusable = true }: PreparedRun): Promise<readonly RawRow[]> {
    return isReusable
      ? this.#runPrepared(sql, values, isBrief, (statement, done) => statement.all(values, this.#limitTime(done)))
      : this.#run(sql, values, false, (done) => this.#connection.all(sql, values, done))
  }

  /** Returns the number of rows that the statement changed. */
  runWrite({ sql, values }: PreparedRun): Promise<number> {
    const toChangedCallback = (done: DriverCallback<number>): ChangedCallback =>
      function (error) {
        done(error, error === null ? this.changes : undefined)
      }
    return this.#runPrepared(sql, values, false, (statement, done) =>
      statement.run(values, this.#limitTime(toChangedCallback(done))),
    )
  }

  /** Applies the connection's statement timeout, if any, to a callback. */
  #limitTime<D extends (...given: never[]) => void>(done: D): D {
    const timer = timerOf(this.#connection)
    return timer === undefined ? done : (timer.limit(done as never) as never)
  }

  #runPrepared<T>(
    sql: string,
    values: readonly unknown[],
    isBrief: boolean,
    call: (statement: SqliteStatement, done: DriverCallback<T>) => void,
  ): Promise<T> {
    return this.#run(sql, values, isBrief, (done) => {
      const prepared = getOrCreate(this.#textsBySql, sql, () => this.#prepare(sql))
      const { compilation, idle } = prepared
      const taken = isBrief && compilation === null ? idle.pop() : undefined
      if (isBrief && compilation === null && taken === undefined) this.#compileDuplicate(sql, prepared)
      // If no statement is idle, the driver queues the call.
      const statement = taken ?? prepared.statement
      let isReset = false
      const ended: DriverCallback<T> = (error, value) => {
        if (error !== null && !isReset) {
          // The driver does not reset a statement that found the file locked. Before the reset, SQLite commits no write
          // on the connection and rolls back writes at the end. The statement is therefore reset at once, before
          // callers that need an idle connection continue.
          isReset = true
          statement.reset(() => ended(error))
          return
        }
        if (taken !== undefined) idle.push(taken)
        done(error, value)
      }
      if (compilation === null) call(statement, ended)
      // The driver itself releases a statement that does not compile.
      else compilation.then(() => call(statement, ended)).catch(done)
    })
  }

  /** Calls the driver when the queue starts the statement, and publishes the statement to listeners. */
  #run<T>(
    sql: string,
    values: readonly unknown[],
    isBrief: boolean,
    call: (done: DriverCallback<T>) => void,
  ): Promise<T> {
    const run = (resolve: (value: T) => void, reject: (error: unknown) => void): void => {
      const logged = logQuery(this.#sequelize, this.#connection, sql, values)
      const done: DriverCallback<T> = (error, value) => {
        this.#queue.finish()
        logged()
        if (error === null) resolve(value as T)
        else reject(error instanceof Error ? formatError(this.#sequelize, this.#connection, sql, error) : error)
      }
      this.#queue.add(isBrief, () => {
        try {
          if (this.#isClosing) throw createClosedError()
          call(done)
        } catch (error) {
          done(error as Error)
        }
      })
    }
    return traceStatement({ dialect: 'sqlite', sql }, () => new Promise(run), affectedRowsOf)
  }

  /** Compiles another statement of a text for future concurrent runs. */
  #compileDuplicate(sql: string, prepared: PreparedText): void {
    const { duplicates, idle } = prepared
    if (
      duplicates.size >= MAX_DUPLICATES_PER_TEXT ||
      this.#duplicateCount >= MAX_DUPLICATES ||
      sql.length > MAX_DUPLICATE_LENGTH
    )
      return
    this.#duplicateCount += 1
    const statement = this.#connection.prepare(sql, (error) => {
      if (error === null) idle.push(statement)
      else if (duplicates.delete(statement)) this.#duplicateCount -= 1
    })
    duplicates.add(statement)
  }

  #prepare(sql: string): PreparedText {
    const { promise, resolve, reject } = createDeferred()
    const statement = this.#connection.prepare(sql, (error) => (error === null ? resolve() : reject(error)))
    const prepared: PreparedText = {
      statement,
      compilation: promise,
      hasFailed: false,
      idle: [statement],
      duplicates: new Set(),
    }
    promise.then(
      () => {
        prepared.compilation = null
      },
      () => {
        prepared.hasFailed = true
        this.#textsBySql.delete(sql)
      },
    )
    return prepared
  }
}

/** Creates the error that the driver reports for a closed connection. */
function createClosedError(): Error {
  return Object.assign(new Error('SQLITE_MISUSE: Database is closed'), { code: 'SQLITE_MISUSE', errno: 21 })
}

function affectedRowsOf(outcome: unknown): number | null {
  if (Array.isArray(outcome)) return outcome.length
  return typeof outcome === 'number' ? outcome : null
}

function createDeferred(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve: () => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

const statementsByConnection = new WeakMap<SqliteConnection, PreparedStatements>()

/**
 * Returns the prepared statements of the connection that Sequelize uses outside of transactions. Returns a promise if
 * the connection is not open yet.
 */
export function preparedStatementsOf(sequelize: Sequelize): PreparedStatements | Promise<PreparedStatements> {
  const { getConnection } = internalsOf(sequelize).connectionManager
  const last = lastBySequelize.get(sequelize)
  // After Sequelize is closed, `getConnection` is another function, and the cached connection is not used.
  if (last?.getConnection === getConnection && last.connection === openConnectionOf(sequelize)) return last.statements
  return openStatements(sequelize, getConnection)
}

interface LastConnection {
  readonly getConnection: unknown
  readonly connection: object
  readonly statements: PreparedStatements
}

const lastBySequelize = new WeakMap<Sequelize, LastConnection>()

async function openStatements(sequelize: Sequelize, getConnection: unknown): Promise<PreparedStatements> {
  const connection = await requireSqliteConnection(sequelize)
  const statements = statementsOfConnection(sequelize, connection)
  lastBySequelize.set(sequelize, { getConnection, connection, statements })
  return statements
}

/** Runs work on an exclusive connection, within the statement timeout. */
export async function runOnTimedConnection<T>(
  sequelize: Sequelize,
  limit: StatementLimit,
  work: (statements: PreparedStatements) => Promise<T>,
): Promise<T> {
  const connections = connectionsFor(sequelize)
  const connection = await connections.getConnection({ type: QueryTypes.SELECT, ...limitOptionsOf(limit) })
  try {
    return await work(statementsOfConnection(sequelize, connection))
  } finally {
    connections.releaseConnection(connection)
  }
}

/** Returns the prepared statements of a connection of the driver sqlite3. */
export function statementsOfConnection(sequelize: Sequelize, given: object): PreparedStatements {
  const connection = given as SqliteConnection
  return getOrCreate(
    statementsByConnection,
    connection,
    () => new PreparedStatements(sequelize, connection, connection === openConnectionOf(sequelize)),
  )
}
