import { setTimeout as wait } from 'node:timers/promises'
import { type Problem, problem } from '../common/problem.js'

/**
 * Releases the resources of a write. `pending` is the running step, if it may still complete the write. The returned
 * promise never rejects and resolves soon.
 */
export type WriteAbort = (pending: Promise<unknown> | null) => Promise<void>

/**
 * Bounds of the random delay before the next attempt, in milliseconds. The maximum delay is FIRST_BACKOFF, tripled with
 * each attempt, and never more than MAX_BACKOFF.
 */
const FIRST_BACKOFF = 30
const MAX_BACKOFF = 3000

/** Timeout of a write. The timeout starts with the first attempt and covers all attempts. */
export class WriteTimeout {
  readonly #milliseconds: number
  #end: number | null = null

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /**
   * Waits a random time before the next attempt, so that conflicting writes do not collide again. Returns false if the
   * timeout would expire.
   */
  async waitBeforeRetry(attempt: number): Promise<boolean> {
    const milliseconds = Math.random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 3 ** attempt)
    if (performance.now() + milliseconds > (this.#end ?? Number.POSITIVE_INFINITY)) return false
    await wait(milliseconds)
    return true
  }

  startTimer(giveUp: WriteAbort): WriteTimer {
    const now = performance.now()
    this.#end ??= now + this.#milliseconds
    return new WriteTimer(Math.max(0, this.#end - now), giveUp)
  }
}

/** Applies the timeout to the steps of one attempt. */
export class WriteTimer {
  readonly #timer: NodeJS.Timeout
  readonly #abort: WriteAbort
  /** Rejects the promise of the running step. null before the first step. */
  #reject: ((error: Error) => void) | null = null
  /** The running step if it may still complete the write after a timeout, otherwise null. */
  #pendingOutcome: Promise<unknown> | null = null
  #isExpired = false

  constructor(milliseconds: number, giveUp: WriteAbort) {
    this.#abort = giveUp
    this.#timer = setTimeout(() => {
      this.#isExpired = true
      this.#expire()
    }, milliseconds)
    // The timer alone must not keep the process alive.
    this.#timer.unref()
  }

  get isExpired(): boolean {
    return this.#isExpired
  }

  /**
   * Runs a step that may hang. On timeout the step is abandoned, because its effect is rolled back. `counted` is the
   * step if its result still counts.
   */
  race<T>(step: Promise<T>, counted: Promise<unknown> | null = null): Promise<T> {
    return new Promise((resolve, reject) => {
      step.then(resolve, reject)
      this.#reject = reject
      this.#pendingOutcome = counted
      if (this.#isExpired) this.#expire()
    })
  }

  /** Runs a step that completes the write. On timeout its result still counts if the database answers soon. */
  settle<T>(step: Promise<T>): Promise<T> {
    return this.race(step, step)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #expire(): void {
    const reject = this.#reject
    if (reject === null) return
    const given = this.#abort(this.#pendingOutcome)
    if (this.#pendingOutcome === null) reject(timeoutError())
    else void given.then(() => reject(timeoutError()))
  }
}

function timeoutError(): Error {
  return new Error(
    'The write did not end within the time limit (limits.writeTime). A query of a hook or an action may have waited for ' +
      'the write itself: pass { transaction } to each query.',
  )
}

/** Returns the Problem for a write that exceeded the timeout. */
export function writeTimeoutProblem(cause: unknown): Problem {
  return temporaryProblem('The write took too long. Try again later.', cause)
}

/** Returns the Problem for a full write queue. */
export function queueFullProblem(limit: number): Problem {
  const cause = new Error(`More than ${limit} writes are waiting, which is the limit (limits.writeQueue).`)
  return temporaryProblem('Too many writes are waiting. Try again later.', cause, limit)
}

/** Returns the Problem for a request that exceeds the limit of requests waiting for a connection. */
export function poolFullProblem(waiting: number, limit: number): Problem {
  const cause = new Error(
    `${waiting} requests are waiting for a database connection. The limit is ${limit} (limits.waiting).`,
  )
  return temporaryProblem('Too many requests are waiting. Try again later.', cause, waiting)
}

/** Returns the seconds for `Retry-After`, which grow with the number of waiting requests. */
export function retryAfterSeconds(waiting: number): string {
  return String(Math.min(30, 1 + Math.floor(waiting / 100)))
}

/** Returns the Problem for a write that lost to other writes in every attempt. */
export function contentionProblem(cause: unknown): Problem {
  return temporaryProblem('Other requests are changing the same link. Try again later.', cause)
}

function temporaryProblem(detail: string, cause: unknown, waiting = 0): Problem {
  return Object.assign(problem('unavailable', { detail, headers: { 'Retry-After': retryAfterSeconds(waiting) } }), {
    cause,
  })
}
