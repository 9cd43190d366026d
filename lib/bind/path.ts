import type { BoundPath, Crossing } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { Path, Quantifier } from '../../types/query.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { type Aliases, aliasesOf, NONE } from './aliases.js'

/** Where names are looked up: a resource itself, or what a relation reaches. */
export interface Place {
  readonly fields: Reach['fields']
  readonly relations: ReadonlyMap<string, Relation>
  /** Null at the resource itself. */
  readonly reach: Reach | null
  /** The paths that are also known by a single name. */
  readonly aliases: Aliases
  /** How many more relations a path may cross from here before nothing is looked up any more. */
  readonly left: number
}

/** One relation more than the limit is looked up, so that the plan can tell the path which goes on too far. */
export function placeOf(resource: Resource): Place {
  const { byName, relations, limits } = resource
  const aliases = aliasesOf(resource)
  return { fields: byName, relations: relations(), reach: null, aliases, left: limits.pathDepth + 1 }
}

const QUANTIFIERS: ReadonlyMap<string, Quantifier> = new Map([
  ['any', 'any'],
  ['all', 'all'],
  ['none', 'none'],
  ['count', 'count'],
])

/** What `select` has as the last segment of a path for every field. */
const EVERY = '*'

/** A path with where the names of a quantifier's condition are looked up; null where it does not end in a collection. */
export interface Followed {
  readonly path: BoundPath
  readonly element: Place | null
}

/** Looks up the names of a path, segment by segment in Maps only. From nowhere (null) every name is unknown. */
export function bindPath(from: Place | null, { segments, offset }: Path): Followed {
  const crossings: Crossing[] = []
  if (from === null) return { path: { kind: 'unknown', segments, offset, crossings }, element: null }
  let place = from
  for (const [index, segment] of segments.entries()) {
    const name = segment.toLowerCase()
    const field = fieldAt(place, segments, index)
    const way = { segments, offset, crossings }
    if (field !== undefined) {
      return { path: { ...way, kind: 'field', field, reach: place.reach }, element: null }
    }
    const alias = segments.length === 1 ? place.aliases.get(name) : undefined
    if (alias !== undefined) return { path: { ...way, kind: 'field', ...alias }, element: null }
    if (segment === EVERY) return { path: { ...way, kind: 'every' }, element: null }
    const crossing = crossingAt(place, name)
    if (crossing === null) return { path: { ...way, kind: 'unknown' }, element: null }
    const next = behind(place, crossing)
    if (crossing.relation.many) {
      const { element, ...collection } = collectionOf(crossing, next, { segments: segments.slice(index + 1), offset })
      return { path: { ...way, ...collection }, element }
    }
    crossings.push(crossing)
    place = next
  }
  return { path: { kind: 'relation', segments, offset, crossings }, element: null }
}

/** The field that a path ends at here: one of the place, or a declared member of a document. */
function fieldAt({ fields }: Place, segments: readonly string[], index: number): Field | undefined {
  const field = fields.get((segments[index] ?? '').toLowerCase())
  if (index === segments.length - 1) return field
  const within = segments.slice(index + 1).join('.')
  return field?.members?.get(within.toLowerCase())
}

function crossingAt({ relations, reach: from, left }: Place, name: string): Crossing | null {
  if (left === 0) return null
  const relation = relations.get(name)
  if (relation === undefined) return null
  const reach = relation.reach()
  return reach === null ? null : { relation, reach, from }
}

function behind({ left }: Place, { reach }: Crossing): Place {
  return { fields: reach.fields, relations: reach.relations, reach, aliases: NONE, left: left - 1 }
}

/** Behind a collection a quantifier's word is one, whatever field or relation has the same name. */
function collectionOf(crossing: Crossing, element: Place, { segments, offset }: Path) {
  const word = QUANTIFIERS.get(segments[0]?.toLowerCase() ?? '') ?? null
  const behindWord = word === null ? segments : segments.slice(1)
  const further = behindWord.length === 0 ? null : bindPath(element, { segments: behindWord, offset })
  return {
    kind: 'collection' as const,
    crossing,
    word,
    rest: further?.path ?? null,
    element: further === null ? (word === null ? element : null) : further.element,
  }
}
