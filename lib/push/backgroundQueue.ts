import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * A queue with more items does not yield between items. Otherwise new items could arrive faster than they are
 * processed.
 */
const MAX_YIELDING_LENGTH = 1000

/**
 * Maximum time that an item waits for another queue, in milliseconds. A function of the host that never ends delays only
 * the queue of its own resource for longer.
 */
const MAX_WAIT = 5000

interface Waiting<T> {
  readonly item: T
  /** The item is processed after this promise, or after `MAX_WAIT`. */
  readonly after: Promise<void> | null
  readonly done: (() => void) | null
}

/** Processes items one by one. Pending I/O of the process is handled first. */
export class BackgroundQueue<T extends object> {
  readonly #waiting = new Set<Waiting<T>>()
  readonly #work: (item: T) => Promise<void>
  readonly #onError: (error: unknown, item: T) => void
  // Work runs in a separate async context. In the request's context, the host's CLS would find the request's
  // transaction, which has ended.
  readonly #context = new AsyncResource('sequelize-crud-router')
  #isRunning = false

  constructor(work: (item: T) => Promise<void>, failed: (error: unknown, item: T) => void) {
    this.#work = work
    this.#onError = failed
  }

  /** Resolves when all added items are processed. */
  async whenIdle(): Promise<void> {
    while (this.#isRunning) await nextTurn()
  }

  /** Resolves when the items are processed. Their processing begins after `after`, or after `MAX_WAIT`. */
  add(items: readonly T[], after: Promise<void> | null = null): Promise<void> {
    return new Promise((resolve) => {
      const last = items.length - 1
      for (const [index, item] of items.entries())
        this.#waiting.add({ item, after, done: index === last ? resolve : null })
      if (last < 0) resolve()
      if (this.#isRunning || this.#waiting.size === 0) return
      this.#isRunning = true
      this.#context.runInAsyncScope(() => this.#run())
    })
  }

  async #run(): Promise<void> {
    await nextTurn()
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      const { item, after, done } = waiting
      if (after !== null) await limitWait(after)
      try {
        await this.#work(item)
      } catch (error) {
        this.#onError(error, item)
      }
      done?.()
      if (this.#waiting.size > 0 && this.#waiting.size < MAX_YIELDING_LENGTH) await nextTurn()
    }
    this.#isRunning = false
  }
}

function limitWait(after: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_WAIT).unref()
    void after.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
