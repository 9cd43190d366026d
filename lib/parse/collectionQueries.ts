import type { CollectionQuery } from '../../types/intent.js'
import type { Path } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { invalidQuery, unselectedCollection } from '../common/problem.js'
import { readFilter, readPositiveInteger, readSort } from './expressions.js'

const COLLECTION_SUFFIX = /\.(?:filter|sort|limit)$/

/** Returns the lower-case name of a collection's parameter, such as `players.filter`; null for other parameters. */
export function collectionParameterName(name: string): string | null {
  const lower = name.toLowerCase()
  return COLLECTION_SUFFIX.test(lower) ? lower : null
}

/**
 * Reads the parameters of each collection, in the order of the URL. An empty parameter counts as missing.
 *
 * @throws Problem for a malformed parameter, and for a collection that `select` does not name
 */
export function readCollectionQueries(
  { limits }: Resource,
  given: ReadonlyMap<string, string>,
  select: readonly Path[] | null,
): readonly CollectionQuery[] {
  const shapes = new Map<string, CollectionQuery>()
  const selected = (select ?? []).map(({ segments }) => `${segments.join('.').toLowerCase()}.`)
  for (const [name, text] of given) {
    if (text === '' || !COLLECTION_SUFFIX.test(name)) continue
    const dot = name.lastIndexOf('.')
    const path = name.slice(0, dot)
    if (!selected.some((each) => each.startsWith(`${path}.`))) throw unselectedCollection(name)
    const known = shapes.get(path) ?? { path, parameter: name, filter: null, sort: null, limit: null }
    shapes.set(path, { ...known, ...READERS.get(name.slice(dot + 1))?.(name, text, limits) })
  }
  return [...shapes.values()]
}

type ReadCollectionQuery = (name: string, text: string, limits: Resource['limits']) => Partial<CollectionQuery>

const READERS: ReadonlyMap<string, ReadCollectionQuery> = new Map<string, ReadCollectionQuery>([
  ['filter', (name, text, limits) => ({ filter: readFilter(text, limits, name) })],
  ['sort', (name, text, limits) => ({ sort: readSort(text, limits, name) })],
  ['limit', (name, text, { embedItems }) => ({ limit: readEmbedLimit(name, text, embedItems) })],
])

function readEmbedLimit(name: string, text: string, embedItems: number): number | null {
  const limit = readPositiveInteger(name, text)
  if (limit === null || limit <= embedItems) return limit
  throw invalidQuery(name, `must be at most ${embedItems} (embedItems).`)
}
