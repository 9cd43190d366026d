import type { Standing } from '../../types/standing.js'

/** Who is the last to have written which records, of those who have not told of it yet. */
export class Places<K> {
  readonly #last = new Map<K, Standing>()
  /** Writes whose answers are awaited, with what others have written meanwhile. */
  readonly #expected = new Map<Standing, Set<K>>()

  /** Lets somebody tell of these behind those who wrote them before. */
  take(keys: () => readonly K[], place: Standing): void {
    const taken: K[] = []
    for (const other of this.#expected.keys()) if (other.isVoid) this.#expected.delete(other)
    for (const key of keys()) {
      for (const [other, met] of this.#expected) if (other !== place) met.add(key)
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

  /** Notes what others write until somebody has told of his own. */
  expect(place: Standing): void {
    if (this.#expected.has(place)) return
    this.#expected.set(place, new Set())
    place.whenOver(() => this.#expected.delete(place))
  }

  /** Whether another one has written a record while somebody was expected. */
  isDoubtful(place: Standing, key: K): boolean {
    return this.#expected.get(place)?.has(key) === true
  }
}
