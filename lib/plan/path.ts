import type { Field } from '../../types/field.js'
import type { Hop } from '../../types/plan.js'
import type { Path, Quantifier } from '../../types/query.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import type { Crossing } from '../../types/view.js'
import { invalidQuery } from '../common/problem.js'
import type { Context } from './context.js'
import { type Alias, aliasesOf } from './flatten.js'
import type { Place } from './tally.js'

/** Start of a path, where its names are looked up: the resource itself, or the records behind a relation. */
export interface Root {
  readonly resource: Resource
  /** Null for the resource itself. */
  readonly reach: Reach | null
  /** Number of further relations that a path may cross. */
  readonly left: number
  /** Number of collections around paths from this root. */
  readonly collections: number
  /** Relation to the join model's row that links a record to its owner. Null if there is none. */
  readonly link: Relation | null
}

export function rootOf(resource: Resource, link: Relation | null = null): Root {
  return { resource, reach: null, left: resource.limits.pathDepth, collections: 0, link }
}

/** Fields that the names at this root can refer to. */
export function fieldsAt({ resource, reach }: Root): readonly Field[] {
  return reach === null ? [...resource.fields, ...resource.computed] : [...reach.fields.values()]
}

interface Way<H> {
  /** The to-one relations that the path crosses before its end. */
  readonly crossings: readonly Crossing[]
  /** One hop for each crossing. */
  readonly hops: readonly H[]
  /** Root of the last name of the path. Null if the path ended earlier. */
  readonly at: Root | null
}

/** Path to a field. `reach` is what the field belongs to: null for the resource. `flattened` is the joined name in the resource's own records. */
interface FieldEnd<H> extends Way<H> {
  readonly kind: 'field'
  readonly field: Field
  readonly reach: Reach | null
  readonly flattened: string | null
}

/** Path to a collection, with an optional quantifier. The remaining path starts at `element`. */
interface CollectionEnd<H> extends Way<H> {
  readonly kind: 'collection'
  readonly crossing: Crossing
  readonly hop: H
  readonly word: Quantifier | null
  readonly rest: Path | null
  readonly element: Root
}

/** Path to the items of an array of scalars, with a quantifier. */
interface ItemsEnd<H> extends Way<H> {
  readonly kind: 'items'
  /** The attribute, or the member of a JSON document, that contains the array. */
  readonly field: Field
  readonly item: Field
  readonly reach: Reach | null
  readonly word: Quantifier
}

/** Path to a relation, to all fields of one (`*`), or to a name that is unknown to the caller. */
interface OtherEnd<H> extends Way<H> {
  readonly kind: 'relation' | 'every' | 'unknown'
}

export type Resolved<H> = FieldEnd<H> | ItemsEnd<H> | CollectionEnd<H> | OtherEnd<H>

/** The end of a path for a caller. */
export type Destination = Resolved<Hop>

/** Crosses a relation while `left` more relations may be crossed. Null ends the path. */
type Cross<H> = (crossing: Crossing, left: number) => H | null

const QUANTIFIERS: ReadonlyMap<string, Quantifier> = new Map([
  ['any', 'any'],
  ['all', 'all'],
  ['none', 'none'],
  ['count', 'count'],
])

/** Last segment of a path in `select` that selects every field. */
const EVERY = '*'

/**
 * Resolves the names of a path by Map lookups, segment by segment, up to its end or its first collection. One relation beyond the limit is
 * crossed, so that `cross` can reject it.
 */
export function resolvePath<H>(root: Root, { segments, offset }: Path, cross: Cross<H>): Resolved<H> {
  const crossings: Crossing[] = []
  const hops: H[] = []
  let [from, at]: [Root, Root | null] = [root, null]
  for (const [index, segment] of segments.entries()) {
    at = index === segments.length - 1 ? from : null
    const way = { crossings, hops, at }
    const field = fieldAt(from, segments, index)
    if (field !== undefined) return { ...way, kind: 'field', field, reach: from.reach, flattened: null }
    const items = itemsAt(from, segments, index)
    if (items !== null) return { ...way, kind: 'items', ...items, reach: from.reach }
    const alias =
      segments.length === 1 && from.reach === null ? aliasesOf(from.resource).get(segment.toLowerCase()) : undefined
    if (alias !== undefined) return resolveAlias(from, alias, cross)
    if (segment === EVERY) return { ...way, kind: 'every' }
    const crossing = crossingAt(from, segment)
    const hop = crossing === null ? null : cross(crossing, from.left)
    if (crossing === null || hop === null) return { ...way, kind: 'unknown' }
    if (crossing.relation.many) {
      const rest = { segments: segments.slice(index + 1), offset }
      return { ...way, kind: 'collection', crossing, hop, ...quantified(rest), element: behind(from, crossing, 1) }
    }
    crossings.push(crossing)
    hops.push(hop)
    from = behind(from, crossing, 0)
  }
  return { kind: 'relation', crossings, hops, at }
}

/** The field at the end of a path: a field of the root, or a declared member of a JSON document. */
function fieldAt({ resource, reach }: Root, segments: readonly string[], index: number): Field | undefined {
  const field = (reach?.fields ?? resource.byName).get(nameAt(reach, segments[index] ?? ''))
  const within = segments.slice(index + 1).join('.')
  return index === segments.length - 1 ? field : field?.members?.get(within.toLowerCase())
}

/** The array items that a path with a following quantifier ends at. */
function itemsAt(
  root: Root,
  segments: readonly string[],
  index: number,
): Pick<ItemsEnd<never>, 'field' | 'item' | 'word'> | null {
  const word = QUANTIFIERS.get(segments.at(-1)?.toLowerCase() ?? '')
  if (word === undefined || index === segments.length - 1) return null
  const field = fieldAt(root, segments.slice(0, -1), index)
  return field?.item === undefined ? null : { field, item: field.item, word }
}

/** Resolves a flattened field by its joined name. */
function resolveAlias<H>(root: Root, { crossings, field, json }: Alias, cross: Cross<H>): Resolved<H> {
  const hops: H[] = []
  for (const [index, crossing] of crossings.entries()) {
    const hop = cross(crossing, root.left - index)
    if (hop === null) return { kind: 'unknown', crossings, hops, at: root }
    hops.push(hop)
  }
  const reach = crossings.at(-1)?.reach ?? null
  return { kind: 'field', crossings, hops, at: root, field, reach, flattened: json }
}

function crossingAt({ resource, reach: from, left, link }: Root, name: string): Crossing | null {
  if (left < 0) return null
  const relations = from === null ? resource.relations() : from.relations
  const word = nameAt(from, name)
  const relation = relations.get(word) ?? (link?.json.toLowerCase() === word ? link : undefined)
  const reach = relation?.reach() ?? null
  return relation === undefined || reach === null ? null : { relation, reach, from }
}

/** The form of a name that is used for lookups. */
function nameAt(reach: Reach | null, name: string): string {
  return reach?.isExact ? name : name.toLowerCase()
}

function behind({ resource, left, collections }: Root, { relation, reach }: Crossing, many: number): Root {
  // Conditions of the host reach join model rows by associations only.
  const link = reach.isExact ? null : (relation.link?.row() ?? null)
  return { resource, reach, left: left - 1, collections: collections + many, link }
}

/** Quantifier behind a collection and the names after it. A quantifier takes precedence over a field or relation of that name. */
function quantified({ segments, offset }: Path): { readonly word: Quantifier | null; readonly rest: Path | null } {
  const word = QUANTIFIERS.get(segments[0]?.toLowerCase() ?? '') ?? null
  const names = word === null ? segments : segments.slice(1)
  return { word, rest: names.length === 0 ? null : { segments: names, offset } }
}

/**
 * Resolves a path for the caller of a request.
 *
 * @throws Problem if the path crosses too many relations
 */
export function follow({ view }: Context, root: Root, path: Path, { parameter, offset }: Place): Destination {
  return resolvePath(root, path, (crossing, left) => {
    const hop = view.cross(crossing)
    if (hop === null || left > 0) return hop
    const maximum = `${root.resource.limits.pathDepth} (pathDepth)`
    throw invalidQuery(parameter, `at position ${offset} has a path over more relations than the limit of ${maximum}.`)
  })
}

/** Whether a comparison with null is allowed: the field or a relation before it must be nullable. */
export function mayBeNull(hops: readonly Hop[], field: Field): boolean {
  return field.nullable || hops.some(({ relation, guard }) => guard !== null || relation.optional)
}
