/** The bounds of a cache: its number of entries and its size in bytes. */
export interface CacheLimits<K, V> {
  readonly entries: number
  readonly bytes: number
  /** An estimate of the memory of an entry and its key, in bytes. */
  readonly estimateSize: (key: K, value: V) => number
  /** Called with every value that is evicted, replaced, deleted, or too large to be cached. */
  readonly onRemove?: (value: V) => void
}

interface CacheEntry<V> {
  readonly value: V
  readonly size: number
}

/** A bounded map that evicts the least recently used entries. */
export class BoundedCache<K, V> {
  readonly #limits: CacheLimits<K, V>
  // Entries in the order of their last use. The order is maintained only near the bounds.
  readonly #entries = new Map<K, CacheEntry<V>>()
  #bytes = 0

  constructor(bounds: CacheLimits<K, V>) {
    this.#limits = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  /** The size of all entries in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const { entries, bytes } = this.#limits
    // Far from the bounds no eviction follows, so the order of use is not maintained.
    if (this.#entries.size * 2 > entries || this.#bytes * 2 > bytes) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  /** Caches a value, unless it is larger than the whole cache. */
  set(key: K, value: V): void {
    this.delete(key)
    const { entries, bytes, estimateSize, onRemove } = this.#limits
    const weight = estimateSize(key, value)
    if (weight > bytes || entries < 1) {
      onRemove?.(value)
      return
    }
    this.#entries.set(key, { value, size: weight })
    this.#bytes += weight
    while (this.#entries.size > entries || this.#bytes > bytes) this.#removeOldest()
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.size
    this.#limits.onRemove?.(entry.value)
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key)
  }

  #removeOldest(): void {
    const oldest = this.#entries.keys().next()
    if (!oldest.done) this.delete(oldest.value)
  }
}

/** Returns the maximum size of a string in memory. V8 stores characters beyond Latin-1 in two bytes. */
export function estimateStringBytes(text: string): number {
  return text.length * 2
}
