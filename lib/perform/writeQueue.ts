import { queueFullProblem } from './writeTimeout.js'

/** Runs works one after the other. */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** @throws Problem at once if the limit of waiting works is reached. The running work does not count */
  run<T>(limit: number, work: () => Promise<T>): Promise<T> {
    if (this.#size > limit) return Promise.reject(queueFullProblem(limit))
    this.#size += 1
    const mine = this.#last.then(work)
    // An error rejects `mine` only. The queue continues.
    const left = (): void => {
      this.#size -= 1
    }
    this.#last = mine.then(left, left)
    return mine
  }
}
