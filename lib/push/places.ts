import type { Standing } from '../../types/standing.js'

/** Who is the last to have written which records, of those who have not told of it yet. */
export class Places<K> {
  readonly #last = new Map<K, Standing>()

  /** Lets somebody tell of these behind those who wrote them before. */
  take(keys: () => readonly K[], place: Standing): void {
    const taken: K[] = []
    for (const key of keys()) {
      const before = this.#last.get(key)
      if (before !== undefined && !place.follow(before)) continue
      this.#last.set(key, place)
      taken.push(key)
    }
    if (taken.length === 0) return
    place.whenOver(() => {
      for (const key of taken) if (this.#last.get(key) === place) this.#last.delete(key)
    })
  }
}
