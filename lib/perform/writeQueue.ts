import { queueFullProblem } from './writeTimeout.js'

/** Runs functions one after the other. */
export class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** Rejects with a Problem at once if `limit` functions are already waiting. The running function does not count. */
  run<T>(limit: number, work: () => Promise<T>): Promise<T> {
    if (this.#size > limit) return Promise.reject(queueFullProblem(limit))
    this.#size += 1
    const mine = this.#last.then(work)
    // An error rejects only `mine`. The queue continues.
    const finish = (): void => {
      this.#size -= 1
    }
    this.#last = mine.then(finish, finish)
    return mine
  }
}
