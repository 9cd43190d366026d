import type { Field } from '../../types/field.js'
import type { Column, Hop } from '../../types/plan.js'
import type { Quantifier } from '../../types/query.js'
import type { Reach } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'
import { type Context, type Root, rootAt } from './context.js'
import type { Place } from './tally.js'

/** How deep relations flatten into a response. */
export const FLATTEN_LEVELS = 5

/** What a path leads to, from the root it starts at. */
export type Destination =
  | { readonly kind: 'field'; readonly hops: readonly Hop[]; readonly reach: Reach | null; readonly field: Field }
  | { readonly kind: 'relation'; readonly hops: readonly Hop[] }
  | {
      readonly kind: 'collection'
      readonly hops: readonly Hop[]
      readonly hop: Hop
      readonly reach: Reach
      /** The segments behind the collection's name, a quantifier word among them. */
      readonly rest: readonly string[]
    }

const QUANTIFIERS: ReadonlyMap<string, Quantifier> = new Map([
  ['any', 'any'],
  ['all', 'all'],
  ['none', 'none'],
  ['count', 'count'],
])

export function quantifierOf(segment: string): Quantifier | undefined {
  return QUANTIFIERS.get(segment.toLowerCase())
}

/**
 * Follows a path over to-one relations up to a field, a relation or the first collection. Null where a name is
 * unknown to this caller: segments are only ever looked up in Maps.
 *
 * @throws Problem when the path crosses more relations than the limit
 */
export function follow(
  { limits, view }: Context,
  root: Root,
  segments: readonly string[],
  { parameter, offset }: Place,
): Destination | null {
  const hops: Hop[] = []
  let at: Root = root
  for (const [index, segment] of segments.entries()) {
    const name = segment.toLowerCase()
    const isLast = index === segments.length - 1
    const field = isLast ? at.fields.get(name) : undefined
    if (field !== undefined) return { kind: 'field', hops, reach: at.reach, field }
    const relation = at.relations.get(name)
    const reach = relation?.reach() ?? null
    if (relation === undefined || reach === null) return null
    const hop = view.cross(relation, reach, at.reach)
    if (hop === null) return null
    const depth = root.depth + hops.length + 1
    if (depth > limits.pathDepth) {
      throw invalidQuery(
        parameter,
        `at position ${offset} has a path over more relations than the limit of ${limits.pathDepth} (pathDepth).`,
      )
    }
    if (relation.many) return { kind: 'collection', hops, hop, reach, rest: segments.slice(index + 1) }
    hops.push(hop)
    at = rootAt(reach, depth, root.collections)
  }
  return hops.length === 0 ? null : { kind: 'relation', hops }
}

/** A field as a column of the statement. Behind a hop everything may be null, since the hop's record may be missing. */
export function columnOf(hops: readonly Hop[], field: Field): Column {
  return { hops, field, nullable: field.nullable || hops.length > 0 }
}

/** Whether a client may ask for null: the field or the way to it must allow it. */
export function mayBeNull(hops: readonly Hop[], field: Field): boolean {
  return field.nullable || hops.some(isOptional)
}

function isOptional({ relation: { association }, guard }: Hop): boolean {
  if (guard !== null || association.associationType !== 'BelongsTo') return true
  const { foreignKey } = association
  return association.source.getAttributes()[foreignKey]?.allowNull !== false
}
