import { tooMany } from './time.js'

/** Runs one after the other what it is given. */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** @throws Problem at once where as many as the limit are waiting, the running one not counted */
  run<T>(limit: number, work: () => Promise<T>): Promise<T> {
    if (this.#size > limit) return Promise.reject(tooMany(limit))
    this.#size += 1
    const mine = this.#last.then(work)
    // The queue must go on after a failure, and the failure belongs to whoever waits for `mine`.
    const left = (): void => {
      this.#size -= 1
    }
    this.#last = mine.then(left, left)
    return mine
  }
}
