import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { type BuiltinDatabase, openBuiltin } from './builtin.js'
import { FLAGS, isLocked, sqliteError, translateError } from './codes.js'
import { isCallback, Statement } from './statement.js'

/** A call of a database method. Calls run one after the other. */
interface Call {
  /** Text of the statement, or null for work that must not run again. */
  readonly sql: string | null
  /** `this` of the callback. Without a callback, it emits errors. */
  readonly emitter: EventEmitter
  readonly callback: unknown
  /** Runs the call. The return value becomes the second argument of the callback. */
  readonly work: () => unknown
}

/**
 * Milliseconds before each retry of a statement that has met a lock. The delays equal those of SQLite's busy handler.
 */
const DELAYS = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50]
const LAST_DELAY = 100

const BEGIN = /^\s*BEGIN\b/i
const END = /^\s*(?:COMMIT|END|ROLLBACK(?!\s+(?:TRANSACTION\s+)?TO\b))\b/i
const BUSY_TIMEOUT = /^\s*PRAGMA\s+(?:\w+\.)?busy_timeout\b/i

/**
 * A database with the interface of sqlite3. Statements run on the caller's thread, and callbacks run from the event
 * loop. Timers are used to wait for a lock. SQLite's own wait would block the process, which may hold the lock itself.
 */
export class Database extends EventEmitter {
  /** Whether `loadExtension` may be called. */
  static readonly allowsExtension: boolean = false

  readonly filename: string
  readonly mode: number
  /** Number of statements that are compiled and not yet finalized. */
  statements = 0

  readonly #allowsExtension: boolean
  #builtin: BuiltinDatabase | null = null
  /** Calls in their order. Only the first call may wait for a lock. */
  readonly #calls: Call[] = []
  #pendingWait: { since: number; times: number; timer: NodeJS.Timeout; isInterrupted?: boolean } | null = null
  /** Maximum milliseconds to wait for a lock. */
  #busyTimeout = 1000
  /**
   * State of the open transaction. `holding`: the transaction may hold locks. As in SQLite, it does not wait for locks,
   * because two waiting transactions would deadlock.
   */
  #transaction: 'none' | 'begun' | 'holding' = 'none'

  /** Opens a file. `mode` is a sum of `OPEN_` flags. */
  constructor(filename: string, mode?: unknown, done: unknown = mode) {
    super()
    this.filename = filename
    this.mode = typeof mode === 'number' ? mode : FLAGS.OPEN_READWRITE | FLAGS.OPEN_CREATE | FLAGS.OPEN_FULLMUTEX
    this.#allowsExtension = new.target.allowsExtension
    this.schedule(null, this, done, () => {
      this.#builtin = this.#open()
    })
  }

  get builtin(): BuiltinDatabase {
    if (this.#builtin === null) throw sqliteError('MISUSE', 'Database is closed')
    return this.#builtin
  }

  all(sql: string, ...given: readonly unknown[]): Database {
    return new Statement(this, sql).all(...given).finalize()
  }

  get(sql: string, ...given: readonly unknown[]): Database {
    return new Statement(this, sql).get(...given).finalize()
  }

  run(sql: string, ...given: readonly unknown[]): Database {
    return new Statement(this, sql).run(...given).finalize()
  }

  prepare(sql: string, ...given: readonly unknown[]): Statement {
    return new Statement(this, sql).bind(...given)
  }

  /** Runs all statements of a text. SQLite waits for locks during the call and blocks the process. */
  exec(sql: string, done?: unknown): this {
    return this.schedule(null, this, done, () => this.#withTimeout(() => this.builtin.exec(sql)))
  }

  /** Calls `done` after all earlier calls have run. */
  wait(done: () => void): this {
    return this.schedule(null, this, done, () => undefined)
  }

  close(done?: unknown): this {
    return this.schedule(null, this, done, () => {
      if (this.statements > 0)
        throw sqliteError('BUSY', 'unable to close due to unfinalized statements or unfinished backups')
      this.builtin.close()
      this.#builtin = null
    })
  }

  loadExtension(path: string, done?: unknown): this {
    return this.schedule(null, this, done, () => this.builtin.loadExtension(path))
  }

  /** Only calls `work`, because calls always run one after the other. */
  serialize(work?: () => void): this {
    work?.()
    return this
  }

  parallelize(work?: () => void): this {
    return this.serialize(work)
  }

  /**
   * Cancels the wait for a lock. A running statement cannot be interrupted. @throws Error if the database is not open
   */
  interrupt(): this {
    if (this.#builtin === null) throw new Error('Database is not open')
    if (this.#pendingWait === null) return this
    clearTimeout(this.#pendingWait.timer)
    this.#pendingWait.isInterrupted = true
    this.#runCalls()
    return this
  }

  /**
   * Sets the maximum wait for a lock, in milliseconds: `configure('busyTimeout', 5000)`.
   * @throws TypeError for other settings
   */
  configure(name: string, value: number): this {
    if (name !== 'busyTimeout') throw new TypeError(`${name} is not a valid configuration option`)
    this.#busyTimeout = value
    return this
  }

  /** Adds a call to the queue. The call runs at once if the queue is empty. */
  schedule(sql: Call['sql'], of: Call['emitter'], done: unknown, work: Call['work']): this {
    this.#calls.push({ sql, emitter: of, callback: done, work })
    if (this.#calls.length === 1) this.#runCalls()
    return this
  }

  #runCalls(): void {
    for (let call = this.#calls[0]; call !== undefined && this.#run(call); call = this.#calls[0]) {
      this.#pendingWait = null
      this.#calls.shift()
    }
  }

  /** Runs a call. Returns false if the call must wait for a lock. */
  #run({ sql, emitter, callback, work }: Call): boolean {
    try {
      if (this.#pendingWait?.isInterrupted) throw sqliteError('INTERRUPT', 'interrupted')
      const value = sql !== null && BUSY_TIMEOUT.test(sql) ? this.#withTimeout(work) : work()
      if (sql !== null) this.#trackTransaction(sql)
      if (isCallback(callback))
        setImmediate(() => callback.call(emitter, null, typeof value === 'function' ? value() : undefined))
    } catch (error) {
      if (sql !== null && isLocked(error) && this.#scheduleRetry(sql)) return false
      const known = translateError(error)
      setImmediate(() => (isCallback(callback) ? callback.call(emitter, known) : emitter.emit('error', known)))
    }
    return true
  }

  #trackTransaction(sql: string): void {
    if (BEGIN.test(sql)) this.#transaction = 'begun'
    else if (END.test(sql)) this.#transaction = 'none'
    else if (this.#transaction === 'begun') this.#transaction = 'holding'
  }

  #scheduleRetry(sql: string): boolean {
    const { since, times } = this.#pendingWait ?? { since: performance.now(), times: 0 }
    if (performance.now() - since >= this.#busyTimeout) return false
    if (this.#transaction === 'holding' && !END.test(sql)) return false
    const timer = setTimeout(() => this.#runCalls(), DELAYS[times] ?? LAST_DELAY)
    this.#pendingWait = { since, times: times + 1, timer }
    return true
  }

  /** Enables SQLite's own wait for locks during `work`. */
  #withTimeout<T>(work: () => T): T {
    const { builtin } = this
    builtin.exec(`PRAGMA busy_timeout = ${this.#busyTimeout}`)
    try {
      return work()
    } finally {
      this.#busyTimeout = Number(builtin.prepare('PRAGMA busy_timeout').all()[0]?.timeout)
      builtin.exec('PRAGMA busy_timeout = 0')
    }
  }

  #open(): BuiltinDatabase {
    const { mode, filename } = this
    // A missing file is an error without `OPEN_CREATE`, but `node:sqlite` would create the file.
    const isFile = filename !== '' && filename !== ':memory:' && !filename.startsWith('file:')
    if (isFile && (mode & FLAGS.OPEN_CREATE) === 0 && !existsSync(filename))
      throw sqliteError('CANTOPEN', 'unable to open database file')
    return openBuiltin(filename, {
      readOnly: (mode & FLAGS.OPEN_READWRITE) === 0,
      allowExtension: this.#allowsExtension,
      enableForeignKeyConstraints: false,
      enableDoubleQuotedStringLiterals: true,
    })
  }
}
