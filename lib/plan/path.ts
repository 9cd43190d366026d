import type { BoundPath, CollectionPath, Crossing, FieldPath } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { Hop } from '../../types/plan.js'
import { invalidQuery } from '../common/problem.js'
import type { Context, Root } from './context.js'
import type { Place } from './tally.js'

/** What a path leads this caller to, from the root it starts at. */
export type Destination =
  | (Pick<FieldPath, 'kind' | 'field' | 'reach'> & { readonly hops: readonly Hop[]; readonly flattened: string | null })
  | { readonly kind: 'relation' | 'every'; readonly hops: readonly Hop[] }
  | (Pick<CollectionPath, 'kind' | 'word' | 'rest' | 'crossing'> & { readonly hops: readonly Hop[]; readonly hop: Hop })

/**
 * Where a path leads over to-one relations: to a field, a relation or the first collection. Null where a name is unknown
 * to this caller.
 *
 * @throws Problem when the path crosses more relations than the limit
 */
export function follow(context: Context, root: Root, path: BoundPath, place: Place): Destination | null {
  const hops: Hop[] = []
  for (const crossing of path.crossings) {
    const hop = crossed(context, crossing, root.depth + hops.length + 1, place)
    if (hop === null) return null
    hops.push(hop)
  }
  switch (path.kind) {
    case 'field':
      return { kind: 'field', hops, field: path.field, reach: path.reach, flattened: path.flattened ?? null }
    case 'relation':
    case 'every':
      return { kind: path.kind, hops }
    case 'collection': {
      const { crossing, word, rest } = path
      const hop = crossed(context, crossing, root.depth + hops.length + 1, place)
      return hop === null ? null : { kind: 'collection', hops, hop, crossing, word, rest }
    }
    case 'unknown':
      return null
  }
}

function crossed({ view, limits }: Context, crossing: Crossing, depth: number, place: Place): Hop | null {
  const hop = view.cross(crossing)
  if (hop === null || depth <= limits.pathDepth) return hop
  const maximum = `${limits.pathDepth} (pathDepth)`
  throw invalidQuery(
    place.parameter,
    `at position ${place.offset} has a path over more relations than the limit of ${maximum}.`,
  )
}

/** Whether a client may ask for null: the field or the way to it must allow it. */
export function mayBeNull(hops: readonly Hop[], field: Field): boolean {
  return field.nullable || hops.some(({ relation, guard }) => guard !== null || relation.optional)
}
