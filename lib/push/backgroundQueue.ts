import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** From this length on, the queue no longer yields between items: it would grow without limit. */
const MAX_YIELDING_LENGTH = 1000

/** Works items off one by one, after the process has handled its pending I/O. */
export class BackgroundQueue<T extends object> {
  readonly #waiting = new Set<T>()
  readonly #work: (item: T) => Promise<void>
  readonly #onError: (error: unknown, item: T) => void
  // A separate async context. In the request's context the host's CLS would find the request's transaction, which has
  // ended.
  readonly #context = new AsyncResource('sequelize-crud-router')
  #isRunning = false

  constructor(work: (item: T) => Promise<void>, failed: (error: unknown, item: T) => void) {
    this.#work = work
    this.#onError = failed
  }

  /** Resolves when all added items are done. */
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
