import type { CommitPosition } from '../../types/commitPosition.js'

/**
 * Tracks the last writer of each record, until that writer has sent its events. Events of one record are sent in the
 * order of the writes.
 */
export class CommitPositions<K> {
  readonly #last = new Map<K, CommitPosition>()
  /** Writers in progress, each with the keys that other writers have written since `expect`. */
  readonly #expected = new Map<CommitPosition, Set<K>>()

  /**
   * Registers a writer of records. Events of the writer are sent after the events of earlier writers of these records.
   */
  addPosition(keys: () => readonly K[], place: CommitPosition): void {
    const taken: K[] = []
    for (const other of this.#expected.keys()) if (other.isCancelled) this.#expected.delete(other)
    for (const key of keys()) {
      for (const [other, met] of this.#expected) if (other !== place) met.add(key)
      const before = this.#last.get(key)
      if (before !== undefined && !place.orderAfter(before)) continue
      this.#last.set(key, place)
      taken.push(key)
    }
    if (taken.length === 0) return
    place.onSent(() => {
      for (const key of taken) if (this.#last.get(key) === place) this.#last.delete(key)
    })
  }

  /** Starts to collect the keys that other writers write. The collection ends when this writer has sent its events. */
  expect(place: CommitPosition): void {
    if (this.#expected.has(place)) return
    this.#expected.set(place, new Set())
    place.onSent(() => this.#expected.delete(place))
  }

  /** Whether another writer has written the record since `expect`. */
  isDoubtful(place: CommitPosition, key: K): boolean {
    return this.#expected.get(place)?.has(key) === true
  }
}
