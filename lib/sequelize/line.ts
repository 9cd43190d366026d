// Kept for speed: the order of prepared statements on a handle of SQLite.

import type { SqliteConnection, SqliteStatement } from './sqlite.js'

/** Statements under way at once: one runs, the next waits for the handle, and the other threads stay free. */
const WIDTH = 2

/**
 * The same where all of them read a few records by their keys, and wait for nobody's lock: as many again as there are threads. To wake
 * a thread for each statement, and the process by each that has ended, takes longer than such a statement itself; where another one is
 * there already, no thread goes to sleep.
 */
const BRIEF_WIDTH = 8

/** What a handle does beside what the line has it do. Each of these may wait until the handle is idle. */
const GUESTS = ['all', 'run', 'get', 'exec', 'prepare', 'wait', 'loadExtension'] as const

/** A statement that waits for its turn. */
interface Waiting {
  readonly isBrief: boolean
  readonly start: () => void
}

/** The line of those who want a SQLite handle: its prepared statements in the order of asking, and whoever needs it idle. */
export class Line {
  /** The handle's own methods, by which the line is told of nobody else. */
  readonly #own: Pick<SqliteConnection, 'all' | 'prepare' | 'wait'>
  readonly #waiting: Waiting[] = []
  /** Whether nobody who reads waits for a lock: in memory, and where writers append to a log. */
  #isLockless = false
  #running = 0
  /** Those among them that may take long, or wait for a lock. */
  #long = 0
  /** For how many the line stands still, who need the handle idle. */
  #paused = 0
  /** Whether the driver is to tell when it is, and whether more of them came meanwhile. */
  #isAwaited = false
  #isAskedAgain = false
  /** How often the handle was for one alone, and how often it had been when a text was compiled last. */
  #locks = 0
  #unlocked = 0

  /** `isShared` says that others use the handle too: Sequelize, for the host and for what is not prepared. */
  constructor(connection: SqliteConnection, isShared: boolean) {
    this.#own = connection
    if (!isShared) return
    this.#own = {
      all: connection.all.bind(connection),
      prepare: connection.prepare.bind(connection),
      wait: connection.wait.bind(connection),
    }
    this.#receive(connection)
    this.#own.all('PRAGMA journal_mode', [], (_error, [row] = []) => {
      this.#isLockless = row?.journal_mode === 'wal' || connection.filename === ':memory:'
    })
  }

  /** Starts a statement when it is its turn, which ends by `leave`. `isBrief` says that it reads a few records by their keys. */
  enter(isBrief: boolean, start: () => void): void {
    if (this.#waiting.length === 0 && this.#fits(isBrief)) this.#start(isBrief, start)
    else this.#waiting.push({ isBrief, start })
  }

  leave(isBrief: boolean): void {
    this.#running -= 1
    if (!isBrief) this.#long -= 1
    this.#startNext()
  }

  /** Has the driver compile a text. */
  compile(sql: string, done: (error: Error | null) => void): SqliteStatement {
    const locks = this.#locks
    return this.#compiling((resume) =>
      this.#own.prepare(sql, (error) => {
        this.#unlocked = locks
        resume()
        done(error)
      }),
    )
  }

  /** Has it compile and run one for this once. */
  once(sql: string, values: readonly unknown[], done: Parameters<SqliteConnection['all']>[2]): void {
    this.#compiling((resume) =>
      this.#own.all(sql, values, (error, rows) => {
        resume()
        done(error, rows)
      }),
    )
  }

  /** Behind whoever had the handle alone the driver compiles nothing while a statement runs on it: the line stands still meanwhile. */
  #compiling<T>(call: (resume: () => void) => T): T {
    let isPaused = this.#locks > this.#unlocked
    if (isPaused) this.#paused += 1
    const resume = (): void => {
      if (!isPaused) return
      isPaused = false
      this.#paused -= 1
      this.#startNext()
    }
    try {
      return call(resume)
    } catch (error) {
      resume()
      throw error
    }
  }

  #fits(isBrief: boolean): boolean {
    const width = isBrief && this.#isLockless && this.#long === 0 ? BRIEF_WIDTH : WIDTH
    return this.#paused === 0 && this.#running < width
  }

  #start(isBrief: boolean, start: () => void): void {
    this.#running += 1
    if (!isBrief) this.#long += 1
    start()
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.isBrief); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#start(next.isBrief, next.start)
    }
  }

  /** Learns of what others ask of the handle. */
  #receive(connection: SqliteConnection): void {
    let isWithin = false
    const { serialize } = connection
    // What is asked for within is asked for together.
    connection.serialize = (...given) => {
      const wasWithin = isWithin
      isWithin = true
      try {
        return serialize.apply(connection, given)
      } finally {
        isWithin = wasWithin
        this.#giveWay()
      }
    }
    for (const name of GUESTS) {
      const method: unknown = Reflect.get(connection, name)
      if (typeof method !== 'function') continue
      const value = (...given: unknown[]): unknown => {
        const result: unknown = method.apply(connection, given)
        if (!isWithin) this.#giveWay()
        return result
      }
      Object.defineProperty(connection, name, { value, configurable: true, writable: true })
    }
  }

  /**
   * Lets those have the handle who wait until it is idle, behind what runs on it: to the driver prepared statements need not wait
   * for these, and where one follows another it would never be their turn. Nor does a write begin while one of theirs may wait for a
   * lock: SQLite would not commit it. Those that come meanwhile have it behind as many prepared statements as run at once.
   */
  #giveWay(): void {
    this.#locks += 1
    if (this.#isAwaited) {
      this.#isAskedAgain = true
      return
    }
    this.#isAwaited = true
    this.#paused += 1
    this.#own.wait(() => {
      const isAskedAgain = this.#isAskedAgain
      this.#isAwaited = false
      this.#isAskedAgain = false
      this.#locks += 1
      this.#paused -= 1
      this.#startNext()
      if (isAskedAgain) this.#giveWay()
    })
  }
}
