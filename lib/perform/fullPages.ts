// Fast path: remembers which filters have full pages. Their total is then read in the same statement.

import type { Predicate } from '../../types/plan.js'
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

/** Members of predicates that the signature replaces by their name. */
const NAMED_MEMBERS: ReadonlySet<string> = new Set(['field', 'relation', 'key', 'source'])

/** Returns a filter as a text without values. Filters that differ only in values have equal texts. */
export function filterSignature(where: Predicate): string {
  return JSON.stringify(where, (name, value: unknown) => {
    if (name === 'values' || name === 'identity') return undefined
    if (name === 'fields') return (value as readonly { readonly name: string }[]).map((field) => field.name)
    return NAMED_MEMBERS.has(name) ? Object(value).name : value
  })
}
