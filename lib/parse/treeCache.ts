// Kept for speed: syntax trees, cached by the parsed text.

import type { FilterNode, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { isFast } from '../common/fastPaths.js'

const BOUNDS = { entries: 500, bytes: 8 * 2 ** 20 }

/**
 * The estimated size of a syntax tree in bytes per character of its text. Each comparison has objects for its path and
 * its value.
 */
const PER_CHARACTER = 150

/** Creates a cache of syntax trees. Trees do not depend on the caller, because their names are not resolved. */
function createCache<N extends object>(): BoundedCache<string, N> {
  return new BoundedCache({
    ...BOUNDS,
    estimateSize: (text) => estimateStringBytes(text) + PER_CHARACTER * text.length,
  })
}

/** The cached trees of one resource, because its limits decide which texts are valid. */
class TreeCaches {
  readonly filters: BoundedCache<string, FilterNode> = createCache()
  readonly sorts: BoundedCache<string, readonly SortNode[]> = createCache()
}

const cachesByResource = new WeakMap<Resource, TreeCaches>()

function treeCachesOf(resource: Resource): TreeCaches {
  const known = cachesByResource.get(resource)
  if (known !== undefined) return known
  const made = new TreeCaches()
  cachesByResource.set(resource, made)
  return made
}

/** Returns the cached tree of a filter, or the result of `parse`, which throws for an invalid text. */
export function cachedFilter(resource: Resource, text: string, parse: () => FilterNode): FilterNode {
  return cachedTree(treeCachesOf(resource).filters, text, parse)
}

/** Returns the cached tree of a sort, or the result of `parse`. */
export function cachedSort(resource: Resource, text: string, parse: () => readonly SortNode[]): readonly SortNode[] {
  return cachedTree(treeCachesOf(resource).sorts, text, parse)
}

function cachedTree<N extends object>(cache: BoundedCache<string, N>, text: string, parse: () => N): N {
  const known = isFast ? cache.get(text) : undefined
  if (known !== undefined) return known
  const node = parse()
  cache.set(text, node)
  return node
}
