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
  addPosition(keys: () => readonly K[], position: CommitPosition): void {
    const taken: K[] = []
    for (const other of this.#expected.keys()) if (other.isCancelled) this.#expected.delete(other)
    for (const key of keys()) {
      for (const [other, met] of this.#expected) if (other !== position) met.add(key)
      const before = this.#last.get(key)
      if (before !== undefined && !position.orderAfter(before)) continue
      this.#last.set(key, position)
      taken.push(key)
    }
    if (taken.length === 0) return
    position.onSent(() => {
      for (const key of taken) if (this.#last.get(key) === position) this.#last.delete(key)
    })
  }

  /** Starts to collect the keys that other writers write. The collection ends when this writer has sent its events. */
  expect(position: CommitPosition): void {
    if (this.#expected.has(position)) return
    this.#expected.set(position, new Set())
    position.onSent(() => this.#expected.delete(position))
  }

  /** Whether another writer has written the record since `expect`. */
  isDoubtful(position: CommitPosition, key: K): boolean {
    return this.#expected.get(position)?.has(key) === true
  }
}
