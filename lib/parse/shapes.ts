import type { Shape } from '../../types/intent.js'
import type { Path } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { invalidQuery, unselected } from '../common/problem.js'
import { readFilter, readSort, whole } from './texts.js'

const SHAPING = /\.(?:filter|sort|limit)$/

/** The lower-case name of a parameter of a collection, such as `players.filter`; null for other parameters. */
export function shapingName(name: string): string | null {
  const lower = name.toLowerCase()
  return SHAPING.test(lower) ? lower : null
}

/**
 * The parameters of each collection, in the order of the URL. An empty parameter counts as missing.
 *
 * @throws Problem for a malformed parameter, or one of a collection that `select` does not name
 */
export function readShapes(
  { limits }: Resource,
  given: ReadonlyMap<string, string>,
  select: readonly Path[] | null,
): readonly Shape[] {
  const shapes = new Map<string, Shape>()
  const selected = (select ?? []).map(({ segments }) => `${segments.join('.').toLowerCase()}.`)
  for (const [name, text] of given) {
    if (text === '' || !SHAPING.test(name)) continue
    const dot = name.lastIndexOf('.')
    const path = name.slice(0, dot)
    if (!selected.some((each) => each.startsWith(`${path}.`))) throw unselected(name)
    const known = shapes.get(path) ?? { path, parameter: name, filter: null, sort: null, limit: null }
    shapes.set(path, { ...known, ...READERS.get(name.slice(dot + 1))?.(name, text, limits) })
  }
  return [...shapes.values()]
}

type Read = (name: string, text: string, limits: Resource['limits']) => Partial<Shape>

const READERS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['filter', (name, text, limits) => ({ filter: readFilter(text, limits, name) })],
  ['sort', (name, text, limits) => ({ sort: readSort(text, limits, name) })],
  ['limit', (name, text, { embedItems }) => ({ limit: limitOf(name, text, embedItems) })],
])

function limitOf(name: string, text: string, embedItems: number): number | null {
  const limit = whole(name, text)
  if (limit === null || limit <= embedItems) return limit
  throw invalidQuery(name, `must be at most ${embedItems} (embedItems).`)
}
