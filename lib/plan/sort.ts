import type { BoundList, BoundSort } from '../../types/bound.js'
import type { Field } from '../../types/field.js'
import type { OrderKey } from '../../types/plan.js'
import type { Direction } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { columnOf, countColumn, isOwn, ownColumn } from '../common/columns.js'
import { type Context, suggestion, unknownField } from './context.js'
import { type Destination, follow } from './path.js'
import type { Place } from './tally.js'

/**
 * The order of a page: `sort` beats `sortBy`, which beats the resource's default. It always ends with the key, in the
 * direction of the last key in effect, so that pages never overlap and one index serves both.
 *
 * @throws Problem `unknown-field`
 */
export function planSort(context: Context, resource: Resource, bound: BoundList): readonly OrderKey[] {
  return ended(requested(context, resource, bound), resource.keys, keyDirection(resource, bound))
}

/** The order of a collection in `select`: as for a page, where nothing is sorted by but what its own sort names. */
export function planCollectionSort(
  context: Context,
  sort: readonly BoundSort[],
  order: readonly Field[],
): readonly OrderKey[] {
  return ended(
    sort.flatMap((node) => counted(context, node)),
    order,
    'asc',
  )
}

/** An order that ends with what tells records apart, in the direction of the last key, or of its own. */
function ended(keys: readonly OrderKey[], last: readonly Field[], own: Direction): readonly OrderKey[] {
  const missing = last.filter((field) => !keys.some(({ column }) => isOwn(column, field)))
  const direction = keys.at(-1)?.direction ?? own
  return [...keys, ...missing.map((field) => ({ column: ownColumn(field), direction }))]
}

function requested(context: Context, { query }: Resource, { intent, order, sortBy: field }: BoundList): OrderKey[] {
  if (intent.sort !== null) return order.flatMap((node) => counted(context, node))
  if (intent.sortBy === null) return defaults(context, order, intent.sortDirection)
  if (field === null || !field.sortable || !context.view.readable(field, null)) return []
  return [{ column: ownColumn(field), direction: intent.sortDirection ?? query.defaultDirection }]
}

/** A key of the request's own. What the default sort reaches is the host's affair. */
function counted(context: Context, node: BoundSort): OrderKey[] {
  const keys = keyOf(context, node)
  for (const { column } of keys) {
    context.tally.column(context.root, column, placeOf(context, node))
  }
  return keys
}

/** The default sort. A direction is that of its first key; where it turns that one, the others turn with it. */
function defaults(context: Context, order: BoundList['order'], sortDirection: Direction | null): OrderKey[] {
  const keys = order.flatMap((node) => keyOf({ ...context, unknownFields: 'ignore' }, node))
  const isTurned = sortDirection !== null && keys[0]?.direction !== sortDirection
  return isTurned ? keys.map((key) => ({ ...key, direction: key.direction === 'asc' ? 'desc' : 'asc' })) : keys
}

function placeOf({ prefix }: Context, { offset }: Pick<BoundSort, 'offset'>): Place {
  return { parameter: `${prefix}sort`, offset }
}

const MANY = ' A collection cannot be sorted by: sort by its Count.'
const ONE = ' A relation cannot be sorted by: sort by one of its fields, with a dot between.'

function hintFor(context: Context, path: BoundSort['path'], destination: Destination | null): string {
  if (destination?.kind === 'collection') return MANY
  if (destination?.kind === 'relation') return ONE
  return suggestion(context, context.root, path, ({ sortable }) => sortable)
}

/** The key's direction where nothing else orders the page. An unknown `sortBy` is no sort, and the key ascends. */
function keyDirection({ query }: Resource, { intent: { sort, sortBy, sortDirection } }: BoundList): Direction {
  return sort !== null || sortBy !== null ? 'asc' : (sortDirection ?? query.defaultDirection)
}

function keyOf(context: Context, { path, direction, offset }: BoundSort): OrderKey[] {
  const destination = follow(context, context.root, path, placeOf(context, { offset }))
  if (
    destination?.kind === 'field' &&
    destination.field.sortable &&
    context.view.readable(destination.field, destination.reach)
  ) {
    return [{ column: columnOf(destination.hops, destination.field), direction }]
  }
  if (destination?.kind === 'collection' && destination.word === 'count' && destination.rest === null) {
    return [{ column: countColumn(destination.hops, destination.hop), direction }]
  }
  if (context.unknownFields === 'ignore') return []
  throw unknownField(`${context.prefix}sort`, path.segments.join('.'), offset, hintFor(context, path, destination))
}
