/** Lets things wait for those that came before and have a key in common with them. */
export class Turns<K> {
  readonly #last = new Map<K, Promise<unknown>>()
  readonly #running = new Set<Promise<unknown>>()

  async take<T>(keys: readonly K[], work: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#last.get(key))
    const mine = Promise.all(before).then(work)
    // A failure belongs to whoever waits for `mine`, not to those who come after.
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

  /** Resolves when what is under way now has come to an end. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}
