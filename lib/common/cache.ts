/** What a cache may hold, in number and in bytes. */
export interface Bounds<K, V> {
  readonly entries: number
  readonly bytes: number
  /** The bytes that an entry keeps in memory, its key included. An estimate, but one that grows with the entry. */
  readonly weigh: (key: K, value: V) => number
  /** Told of every value that leaves: pushed out, replaced, deleted, or too heavy to be kept at all. */
  readonly onRemove?: (value: V) => void
}

interface Entry<V> {
  readonly value: V
  readonly weight: number
}

/** A map that stays within its bounds: the least recently used entries go first. */
export class BoundedCache<K, V> {
  readonly #bounds: Bounds<K, V>
  // In the order of their last use, once they are crowded.
  readonly #entries = new Map<K, Entry<V>>()
  #bytes = 0

  constructor(bounds: Bounds<K, V>) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  /** The weight of all entries. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#isCrowded) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  /** Whether an entry may have to leave before long: until then, nobody asks which was used last. */
  get #isCrowded(): boolean {
    const { entries, bytes } = this.#bounds
    return this.#entries.size * 2 > entries || this.#bytes * 2 > bytes
  }

  /** Keeps a value, unless it is heavier than all entries together may be. */
  set(key: K, value: V): void {
    this.delete(key)
    const { entries, bytes, weigh, onRemove } = this.#bounds
    const weight = weigh(key, value)
    if (weight > bytes || entries < 1) {
      onRemove?.(value)
      return
    }
    this.#entries.set(key, { value, weight })
    this.#bytes += weight
    while (this.#entries.size > entries || this.#bytes > bytes) this.#removeOldest()
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.weight
    this.#bounds.onRemove?.(entry.value)
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key)
  }

  #removeOldest(): void {
    const oldest = this.#entries.keys().next()
    if (!oldest.done) this.delete(oldest.value)
  }
}

/** The bytes of a text in memory at the most: V8 keeps what is beyond Latin 1 in two bytes a character. */
export function bytesOf(text: string): number {
  return text.length * 2
}
