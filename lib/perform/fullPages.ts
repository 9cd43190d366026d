// Fast path: remembers which filters have full pages. Their total is then read in the same statement.

import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { isFast } from '../common/fastPaths.js'

/** Number of consecutive full pages after which the next page is expected to be full. */
const FULL_PAGES_EXPECTED = 3

/** Counts consecutive full pages of a resource's recent filters. Filters that differ only in values share an entry. */
export class FullPages {
  readonly #counts = new BoundedCache<string, number>({
    entries: 500,
    bytes: 2 ** 20,
    estimateSize: (key) => estimateStringBytes(key) + 64,
  })

  /** Whether the next page of a filter with this signature is expected to be full. */
  isExpected(shape: string): boolean {
    return isFast && (this.#counts.get(shape) ?? 0) >= FULL_PAGES_EXPECTED
  }

  notePage(shape: string, isFull: boolean): void {
    const before = this.#counts.get(shape) ?? 0
    if (before < FULL_PAGES_EXPECTED || !isFull) this.#counts.set(shape, isFull ? before + 1 : 0)
  }
}

/**
 * Describes a filter without its values. Filters that differ only in values have equal descriptions. Fields and
 * relations are described by their names.
 */
export function filterSignature(part: unknown): string {
  if (typeof part !== 'object' || part === null) return String(part)
  let signature = '('
  if (Array.isArray(part)) {
    for (const each of part) signature += `${filterSignature(each)},`
    return `${signature})`
  }
  const members = part as { readonly [name: string]: unknown }
  if (members.name !== undefined) return String(members.name)
  for (const name in members) {
    if (name !== 'values' && name !== 'identity') signature += `${filterSignature(members[name])},`
  }
  return `${signature})`
}
