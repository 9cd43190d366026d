/** Runs work with a common key one after the other. Work with different keys runs at the same time. */
export class KeyLock<K> {
  readonly #last = new Map<K, Promise<unknown>>()
  readonly #running = new Set<Promise<unknown>>()

  async runLocked<T>(keys: readonly K[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#last.get(key))
    const mine = Promise.all(before).then(work)
    // An error rejects only this work. Later work with one of its keys still runs.
    const end = mine.catch(() => undefined)
    for (const key of keys) this.#last.set(key, end)
    this.#running.add(end)
    try {
      return await mine
    } finally {
      this.#running.delete(end)
      for (const key of keys) if (this.#last.get(key) === end) this.#last.delete(key)
    }
  }

  /** Resolves when all work that is running now has ended. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running)
  }
}
