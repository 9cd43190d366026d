import { setTimeout as wait } from 'node:timers/promises'
import { type Problem, problem } from '../common/problem.js'

/**
 * Lets go of what a write holds. `pending` is what is under way, where its outcome counts. It never rejects, and ends soon.
 */
export type GiveUp = (pending: Promise<unknown> | null) => Promise<void>

/** Milliseconds that are waited before another attempt at most: a third of those before the first one, and before any. */
const SHORTEST = 30
const LONGEST = 3000

/** The time that a write may take, all of its attempts together. It runs from the first of them. */
export class WriteTime {
  readonly #milliseconds: number
  #end: number | null = null

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /**
   * Waits before another attempt at a write that conflicts with others, at random so that these do not meet again. False: there is no time
   * left for one.
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

/** Looks at the clock while one attempt does its steps, one after the other. */
export class Watch {
  readonly #timer: NodeJS.Timeout
  readonly #giveUp: GiveUp
  /** Ends the wait for the step that is under way; null before the first. */
  #reject: ((error: Error) => void) | null = null
  /** That step, where its outcome counts. */
  #counted: Promise<unknown> | null = null
  #isOver = false

  constructor(milliseconds: number, giveUp: GiveUp) {
    this.#giveUp = giveUp
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#expire()
    }, milliseconds)
    // What is under way keeps the process alive, not the clock.
    this.#timer.unref()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** A step that may never end, and has done nothing that counts: it is not waited for when the time is over. */
  race<T>(step: Promise<T>): Promise<T> {
    return this.#step(step, null)
  }

  /** A step after which the write has happened: what the database says of it counts, as long as it says something. */
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

/** The answer to a write whose time was over. */
export function tooLate(cause: unknown): Problem {
  return unavailable('The write took too long. Try again later.', cause)
}

/** The answer to a write that there was no place for. */
export function tooMany(limit: number): Problem {
  const cause = new Error(`More than ${limit} writes are waiting, the limit of limits.writeQueue.`)
  return unavailable('Too many writes are waiting. Try again later.', cause, limit)
}

/** The answer to a request for which there is no place among those that wait for a connection. */
export function tooManyWaiting(waiting: number, limit: number): Problem {
  const cause = new Error(`${waiting} requests wait for a connection. The limit of limits.waiting is ${limit}.`)
  return unavailable('Too many requests are waiting. Try again later.', cause, waiting)
}

/** Seconds after which a client may try again: the more of them wait, the later. */
export function retryAfter(waiting: number): string {
  return String(Math.min(30, 1 + Math.floor(waiting / 100)))
}

/** The answer to a write that others have come before, again and again. */
export function contested(cause: unknown): Problem {
  return unavailable('Others change the same link at the same time. Try again later.', cause)
}

function unavailable(detail: string, cause: unknown, waiting = 0): Problem {
  return Object.assign(problem('unavailable', { detail, headers: { 'Retry-After': retryAfter(waiting) } }), { cause })
}
