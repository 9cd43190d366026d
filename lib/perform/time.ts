import { setTimeout as wait } from 'node:timers/promises'
import { type Problem, problem } from '../common/problem.js'

/**
 * Releases the resources of a write. `pending` is the running step if its result counts. The promise never rejects and
 * resolves soon.
 */
export type GiveUp = (pending: Promise<unknown> | null) => Promise<void>

/**
 * Maximum delay before the second attempt is three times SHORTEST, and triples with each attempt up to LONGEST. In
 * milliseconds.
 */
const SHORTEST = 30
const LONGEST = 3000

/** The write timeout. It covers all attempts and starts with the first. */
export class WriteTime {
  readonly #milliseconds: number
  #end: number | null = null

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /**
   * Waits a random time before another attempt, so that conflicting writes do not collide again. Returns false if the
   * timeout would pass.
   */
  async pause(attempt: number): Promise<boolean> {
    const milliseconds = Math.random() * Math.min(LONGEST, SHORTEST * 3 ** attempt)
    if (performance.now() + milliseconds > (this.#end ?? Number.POSITIVE_INFINITY)) return false
    await wait(milliseconds)
    return true
  }

  watch(giveUp: GiveUp): Watch {
    const now = performance.now()
    this.#end ??= now + this.#milliseconds
    return new Watch(Math.max(0, this.#end - now), giveUp)
  }
}

/** Applies the timeout to the steps of one attempt. */
export class Watch {
  readonly #timer: NodeJS.Timeout
  readonly #giveUp: GiveUp
  /** Rejects the promise of the running step. null before the first step. */
  #reject: ((error: Error) => void) | null = null
  /** The running step, if its result counts. */
  #counted: Promise<unknown> | null = null
  #isOver = false

  constructor(milliseconds: number, giveUp: GiveUp) {
    this.#giveUp = giveUp
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#expire()
    }, milliseconds)
    // The timer alone must not keep the process alive.
    this.#timer.unref()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Runs a step that may hang and has no effect that counts. On timeout it is abandoned. */
  race<T>(step: Promise<T>): Promise<T> {
    return this.#step(step, null)
  }

  /** Runs a step that completes the write. On timeout its result still counts if the database answers soon. */
  settle<T>(step: Promise<T>): Promise<T> {
    return this.#step(step, step)
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #step<T>(step: Promise<T>, counted: Promise<unknown> | null): Promise<T> {
    return new Promise((resolve, reject) => {
      step.then(resolve, reject)
      this.#reject = reject
      this.#counted = counted
      if (this.#isOver) this.#expire()
    })
  }

  #expire(): void {
    const reject = this.#reject
    if (reject === null) return
    const given = this.#giveUp(this.#counted)
    if (this.#counted === null) reject(overtime())
    else void given.then(() => reject(overtime()))
  }
}

function overtime(): Error {
  return new Error('The write did not end within the time of limits.writeTime.')
}

/** The Problem for a write that exceeded the timeout. */
export function tooLate(cause: unknown): Problem {
  return unavailable('The write took too long. Try again later.', cause)
}

/** The Problem for a full write queue. */
export function tooMany(limit: number): Problem {
  const cause = new Error(`More than ${limit} writes are waiting, the limit of limits.writeQueue.`)
  return unavailable('Too many writes are waiting. Try again later.', cause, limit)
}

/** The Problem for a request when too many requests wait for a connection. */
export function tooManyWaiting(waiting: number, limit: number): Problem {
  const cause = new Error(`${waiting} requests wait for a connection. The limit of limits.waiting is ${limit}.`)
  return unavailable('Too many requests are waiting. Try again later.', cause, waiting)
}

/** Seconds for `Retry-After`: the more requests wait, the longer. */
export function retryAfter(waiting: number): string {
  return String(Math.min(30, 1 + Math.floor(waiting / 100)))
}

/** The Problem for a write that lost to other writes in every attempt. */
export function contested(cause: unknown): Problem {
  return unavailable('Others change the same link at the same time. Try again later.', cause)
}

function unavailable(detail: string, cause: unknown, waiting = 0): Problem {
  return Object.assign(problem('unavailable', { detail, headers: { 'Retry-After': retryAfter(waiting) } }), { cause })
}
