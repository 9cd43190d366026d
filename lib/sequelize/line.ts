// Kept for speed: the order of prepared statements on a handle of SQLite.

import type { SqliteConnection } from './sqlite.js'

/** Statements that begin together: one runs, the next waits for the handle, and the other threads stay free. */
const WIDTH = 2

/**
 * The same where all of them read a few records by their keys, and wait for nobody's lock: as many again as there are threads. To wake
 * a thread for each statement, and the process by each that has ended, takes longer than such a statement itself; where another one is
 * there already, no thread goes to sleep.
 */
const BRIEF_WIDTH = 8

/** A statement that waits for its turn. */
interface Waiting {
  readonly isBrief: boolean
  readonly start: () => void
}

/**
 * The line of the prepared statements of one SQLite handle, which has some of them begin together when nothing else runs on the handle. To
 * the driver prepared statements need wait for nobody: where one followed another, it would never be the turn of those who wait until
 * the handle is idle, such as all that Sequelize sends. Nor may a write begin while a statement of others waits for a lock: SQLite
 * would not commit it. The driver's own `wait` keeps the order of all who ask.
 */
export class Line {
  readonly #connection: SqliteConnection
  readonly #waiting: Waiting[] = []
  /** Whether nobody who reads waits for a lock: in memory, and where writers append to a log. */
  #isLockless = false
  #running = 0
  /** Whether the driver is to tell when nothing runs. */
  #isAwaited = false

  /** `isShared` says that others use the handle too: Sequelize, for the host and for what is not prepared. */
  constructor(connection: SqliteConnection, isShared: boolean) {
    this.#connection = connection
    if (!isShared) return
    connection.all('PRAGMA journal_mode', [], (_error, [row] = []) => {
      this.#isLockless = row?.journal_mode === 'wal' || connection.filename === ':memory:'
    })
  }

  /** Starts a statement when it is its turn, which ends by `leave`. `isBrief` says that it reads a few records by their keys. */
  enter(isBrief: boolean, start: () => void): void {
    this.#waiting.push({ isBrief, start })
    this.#startNext()
  }

  leave(): void {
    this.#running -= 1
    this.#startNext()
  }

  #startNext(): void {
    if (this.#running > 0 || this.#isAwaited || this.#waiting.length === 0) return
    this.#isAwaited = true
    this.#connection.wait(() => {
      this.#isAwaited = false
      const next = this.#waiting.splice(0, this.#width())
      this.#running = next.length
      for (const { start } of next) start()
    })
  }

  #width(): number {
    if (!this.#isLockless) return WIDTH
    const long = this.#waiting.slice(0, BRIEF_WIDTH).findIndex(({ isBrief }) => !isBrief)
    return long === -1 ? BRIEF_WIDTH : Math.max(WIDTH, long)
  }
}
