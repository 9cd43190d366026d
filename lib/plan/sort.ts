import type { OrderKey } from '../../types/plan.js'
import type { Direction, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { type Context, unknownField } from './context.js'
import { columnOf, follow } from './path.js'

/** What a list request says of its order. */
export interface SortRequest {
  readonly sort: readonly SortNode[] | null
  readonly sortBy: string | null
  readonly sortDirection: Direction | null
}

/**
 * The order of a page: `sort` beats `sortBy`, which beats the resource's default. It always ends with the key, in the
 * direction of the last key in effect, so that pages never overlap and one index serves both.
 *
 * @throws Problem `unknown-field`
 */
export function planSort(context: Context, resource: Resource, request: SortRequest): readonly OrderKey[] {
  const keys = resource.query.sortable ? requested(context, resource, request) : defaults(context, resource, null)
  const isByKey = keys.some(({ column }) => column.hops.length === 0 && column.field === resource.key)
  if (isByKey) return keys
  const direction = keys.at(-1)?.direction ?? keyDirection(resource, request)
  return [...keys, { column: columnOf([], resource.key), direction }]
}

function requested(context: Context, resource: Resource, { sort, sortBy, sortDirection }: SortRequest): OrderKey[] {
  if (sort !== null) return sort.flatMap((node) => counted(context, node))
  if (sortBy === null) return defaults(context, resource, sortDirection)
  const field = resource.byName.get(sortBy.toLowerCase())
  if (field === undefined || !field.sortable || !context.view.readable(field, null)) return []
  return [{ column: columnOf([], field), direction: sortDirection ?? resource.query.defaultDirection }]
}

/** A key of the request's own. What the default sort reaches is the host's affair. */
function counted(context: Context, node: SortNode): OrderKey[] {
  const keys = keyOf(context, node)
  for (const { column } of keys) {
    context.tally.path(context.root, column.hops, { parameter: 'sort', offset: node.offset })
  }
  return keys
}

/** The default sort; a direction other than ascending turns every key of it round. */
function defaults(context: Context, resource: Resource, sortDirection: Direction | null): OrderKey[] {
  const isTurned = (sortDirection ?? resource.query.defaultDirection) === 'desc'
  return resource.defaultSort
    .flatMap((node) => keyOf({ ...context, unknownFields: 'ignore' }, node))
    .map((key) => (isTurned ? { ...key, direction: key.direction === 'asc' ? 'desc' : 'asc' } : key))
}

/** The key's direction where nothing else orders the page. An unknown `sortBy` is no sort, and the key ascends. */
function keyDirection({ query }: Resource, { sort, sortBy, sortDirection }: SortRequest): Direction {
  if (query.sortable && (sort !== null || sortBy !== null)) return 'asc'
  return (query.sortable ? sortDirection : null) ?? query.defaultDirection
}

function keyOf(context: Context, { path, direction, offset }: SortNode): OrderKey[] {
  const destination = follow(context, context.root, path.segments, { parameter: 'sort', offset })
  if (
    destination?.kind === 'field' &&
    destination.field.sortable &&
    context.view.readable(destination.field, destination.reach)
  ) {
    return [{ column: columnOf(destination.hops, destination.field), direction }]
  }
  if (context.unknownFields === 'ignore') return []
  throw unknownField('sort', path.segments.join('.'), offset)
}
