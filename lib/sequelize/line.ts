// Kept for speed: order of prepared statements on a SQLite connection.

import type { SqliteConnection } from './sqlite.js'

/** Number of statements that start together: one runs, and the next waits for the connection. Other threads stay free. */
const WIDTH = 2

/**
 * Number for statements that read a few records by key and wait for no lock: twice the number of threads. Waking a thread takes longer than
 * such a statement. If another statement waits already, the thread does not sleep.
 */
const BRIEF_WIDTH = 8

/** A statement in the queue. */
interface Waiting {
  readonly isBrief: boolean
  readonly start: () => void
}

/**
 * Queue of the prepared statements on one SQLite connection. It starts several together when the connection is idle. Without it, a chain of
 * prepared statements would starve callers that need the connection idle, such as Sequelize. A write must not start while another
 * connection's lock is waited for, because SQLite would not commit it. The driver's `wait` keeps the order of all callers.
 */
export class Line {
  readonly #connection: SqliteConnection
  readonly #waiting: Waiting[] = []
  /** Whether reads never wait for a lock: in memory and in WAL mode. */
  #isLockless = false
  #running = 0
  /** Whether the driver will report when the connection is idle. */
  #isAwaited = false

  /** `isShared`: Sequelize also uses the connection, for the host and for unprepared statements. */
  constructor(connection: SqliteConnection, isShared: boolean) {
    this.#connection = connection
    if (!isShared) return
    connection.all('PRAGMA journal_mode', [], (_error, [row] = []) => {
      this.#isLockless = row?.journal_mode === 'wal' || connection.filename === ':memory:'
    })
  }

  /** Starts a statement when its turn comes. It must call `leave` at its end. `isBrief`: it reads a few records by key. */
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
