import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Behind so many, the queue no longer lets others go first, or it would grow for ever. */
const LONG = 1000

/** Does one thing after the other, behind whatever the process has to answer first. */
export class Queue<T extends object> {
  readonly #waiting = new Set<T>()
  readonly #work: (item: T) => Promise<void>
  readonly #failed: (error: unknown, item: T) => void
  // Not in the context of the request that asked: its transaction, which the host's CLS keeps there, has ended.
  readonly #context = new AsyncResource('sequelize-crud-router')
  #isRunning = false

  constructor(work: (item: T) => Promise<void>, failed: (error: unknown, item: T) => void) {
    this.#work = work
    this.#failed = failed
  }

  /** Resolves when all that was added is done. */
  async ended(): Promise<void> {
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
        this.#failed(error, item)
      }
      if (this.#waiting.size > 0 && this.#waiting.size < LONG) await nextTurn()
    }
    this.#isRunning = false
  }
}
