// Kept for speed: order of prepared statements on a SQLite connection.

import type { SqliteConnection } from './sqlite.js'

/** Number of statements that start together: one runs, and the next waits for the connection in a thread of libuv's pool. */
const MAX_STARTED = 2

/**
 * Number of statements that start together if all of them read a few records by key and wait for no lock: twice the number of threads in
 * libuv's pool. Waking a thread takes longer than such a statement. A thread that has another statement waiting does not sleep.
 */
const MAX_STARTED_BRIEF = 8

/** A statement in the queue. */
interface WaitingStatement {
  readonly isBrief: boolean
  readonly start: () => void
}

/**
 * Queue of the prepared statements on one SQLite connection. The queue starts several statements together when the
 * connection is idle. Without the queue, a chain of prepared statements would starve callers that need the connection
 * idle, such as Sequelize. A write must not start while a statement of this connection waits for another connection's
 * lock, because SQLite would not commit the write. The driver's `wait` keeps the order of all callers.
 */
export class StatementQueue {
  readonly #connection: SqliteConnection
  readonly #waiting: WaitingStatement[] = []
  /** Whether reads never wait for a lock: in memory and in WAL mode. */
  #hasLocklessReads = false
  #running = 0
  /** Whether the driver will report when the connection is idle. */
  #isIdleRequested = false

  /** `isShared`: Sequelize also uses the connection, for the host and for unprepared statements. */
  constructor(connection: SqliteConnection, isShared: boolean) {
    this.#connection = connection
    if (!isShared) return
    connection.all('PRAGMA journal_mode', [], (_error, [row] = []) => {
      this.#hasLocklessReads = row?.journal_mode === 'wal' || connection.filename === ':memory:'
    })
  }

  /**
   * Starts a statement when its turn comes. The statement must call `finish` at its end. `isBrief`: the statement reads
   * a few records by key.
   */
  add(isBrief: boolean, start: () => void): void {
    this.#waiting.push({ isBrief, start })
    this.#startNext()
  }

  finish(): void {
    this.#running -= 1
    this.#startNext()
  }

  #startNext(): void {
    if (this.#running > 0 || this.#isIdleRequested || this.#waiting.length === 0) return
    this.#isIdleRequested = true
    this.#connection.wait(() => {
      this.#isIdleRequested = false
      const next = this.#waiting.splice(0, this.#maxStarted())
      this.#running = next.length
      for (const { start } of next) start()
    })
  }

  #maxStarted(): number {
    if (!this.#hasLocklessReads) return MAX_STARTED
    const long = this.#waiting.slice(0, MAX_STARTED_BRIEF).findIndex(({ isBrief }) => !isBrief)
    return long === -1 ? MAX_STARTED_BRIEF : Math.max(MAX_STARTED, long)
  }
}
