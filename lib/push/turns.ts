/** Lets things wait for those that came before and have a key in common with them. Null is all keys. */
export class Turns<K> {
  readonly #last = new Map<K, Promise<unknown>>()
  readonly #running = new Set<Promise<unknown>>()
  /** The last of those that have all keys. */
  #whole: Promise<unknown> | undefined

  async take<T>(keys: readonly K[] | null, work: () => Promise<T>): Promise<T> {
    const before = keys === null ? [...this.#running] : [this.#whole, ...keys.map((key) => this.#last.get(key))]
    const mine = Promise.all(before).then(work)
    // A failure belongs to whoever waits for `mine`, not to those who come after.
    const end = mine.catch(() => undefined)
    if (keys === null) this.#whole = end
    else for (const key of keys) this.#last.set(key, end)
    this.#running.add(end)
    try {
      return await mine
    } finally {
      this.#running.delete(end)
      if (this.#whole === end) this.#whole = undefined
      for (const key of keys ?? []) if (this.#last.get(key) === end) this.#last.delete(key)
    }
  }

  /** Resolves when what is under way now has come to an end. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}
