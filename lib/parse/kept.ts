// Kept for speed: syntax trees, by the text that they were parsed from.

import type { FilterNode, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { isFast } from '../common/speed.js'

const BOUNDS = { entries: 500, bytes: 8 * 2 ** 20 }

/** Estimated bytes of a syntax tree for each character of its text: a clause has objects for its path and for its value. */
const PER_CHARACTER = 150

/** Syntax trees by the texts that they were parsed from. Nothing is looked up in them: they say the same to every caller. */
function cacheOf<N extends object>(): BoundedCache<string, N> {
  return new BoundedCache({ ...BOUNDS, weigh: (text) => bytesOf(text) + PER_CHARACTER * text.length })
}

/** The trees of a resource, whose limits decide what parses. */
class Kept {
  readonly filters: BoundedCache<string, FilterNode> = cacheOf()
  readonly sorts: BoundedCache<string, readonly SortNode[]> = cacheOf()
}

const kept = new WeakMap<Resource, Kept>()

function keptOf(resource: Resource): Kept {
  const known = kept.get(resource)
  if (known !== undefined) return known
  const made = new Kept()
  kept.set(resource, made)
  return made
}

/** The tree of a filter: as it was parsed before, or by `parse`, which throws where the text is none. */
export function filterOnce(resource: Resource, text: string, parse: () => FilterNode): FilterNode {
  return once(keptOf(resource).filters, text, parse)
}

/** The same of a sort. */
export function sortOnce(resource: Resource, text: string, parse: () => readonly SortNode[]): readonly SortNode[] {
  return once(keptOf(resource).sorts, text, parse)
}

function once<N extends object>(cache: BoundedCache<string, N>, text: string, parse: () => N): N {
  const known = isFast ? cache.get(text) : undefined
  if (known !== undefined) return known
  const node = parse()
  cache.set(text, node)
  return node
}
