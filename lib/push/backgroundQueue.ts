import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * A queue with more items does not yield between items. Otherwise new items could arrive faster than they are
 * processed.
 */
const MAX_YIELDING_LENGTH = 1000

/** Processes items one by one. Pending I/O of the process is handled first. */
export class BackgroundQueue<T extends object> {
  readonly #waiting = new Set<T>()
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

  add(items: readonly T[]): void {
    for (const item of items) this.#waiting.add(item)
    if (this.#isRunning || this.#waiting.size === 0) return
    this.#isRunning = true
    this.#context.runInAsyncScope(() => this.#run())
  }

  async #run(): Promise<void> {
    await nextTurn()
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#onError(error, item)
      }
      if (this.#waiting.size > 0 && this.#waiting.size < MAX_YIELDING_LENGTH) await nextTurn()
    }
    this.#isRunning = false
  }
}
