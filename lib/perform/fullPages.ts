// Fast path: remembers which filters have full pages. Their total is then read in the same statement.

import type { Predicate } from '../../types/plan.js'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { isFast } from '../common/speed.js'

/** Number of consecutive full pages after which the next page is expected to be full. */
const EXPECTED = 3

/**
 * Recent filters of a resource, and how often their pages were full. Filters that differ only in values share an entry.
 */
export class FullPages {
  readonly #inARow = new BoundedCache<string, number>({
    entries: 500,
    bytes: 2 ** 20,
    weigh: (key) => bytesOf(key) + 64,
  })

  /** Whether the next page of filters with a shape is expected to be full. */
  has(shape: string): boolean {
    return isFast && (this.#inARow.get(shape) ?? 0) >= EXPECTED
  }

  note(shape: string, isFull: boolean): void {
    const before = this.#inARow.get(shape) ?? 0
    if (before < EXPECTED || !isFull) this.#inARow.set(shape, isFull ? before + 1 : 0)
  }
}

/** Members of predicates that are identified by their name. */
const NAMED: ReadonlySet<string> = new Set(['field', 'relation', 'key', 'of'])

/** A filter as a text without its values. */
export function shapeOf(where: Predicate): string {
  return JSON.stringify(where, (name, value: unknown) => {
    if (name === 'values' || name === 'identity') return undefined
    if (name === 'fields') return (value as readonly { readonly name: string }[]).map((field) => field.name)
    return NAMED.has(name) ? Object(value).name : value
  })
}
