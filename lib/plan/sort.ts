import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { OrderKey } from '../../types/plan.js'
import type { Direction, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { columnOf, countColumn, isOwn, ownColumn } from '../common/columns.js'
import { type Context, computedReason, suggestion, unknownField } from './context.js'
import { type Destination, follow } from './path.js'
import type { Place } from './tally.js'

/**
 * The order of a page: `sort` beats `sortBy`, which beats the resource's default. It always ends with the key, in the
 * direction of the last key in effect, so that pages never overlap and one index serves both.
 *
 * @throws Problem `unknown-field`
 */
export function planSort(context: Context, intent: ListIntent): readonly OrderKey[] {
  const { resource } = context.root
  return ended(requested(context, intent), resource.keys, keyDirection(resource, intent))
}

/** Whether the records of a mode are in the list's order. */
const ORDERED: Readonly<Record<ListIntent['mode'], boolean>> = {
  page: true,
  select: true,
  seek: true,
  export: true,
  count: false,
  cursor: false,
  aggregate: false,
}

/** The keys of `sort`, or else of the default sort; none where `sortBy` orders the page, or nothing does. */
export function sortOf({ defaultSort }: Resource, { mode, sort, sortBy }: ListIntent): readonly SortNode[] {
  if (sort !== null) return sort
  return sortBy === null && ORDERED[mode] ? defaultSort : []
}

/** The order of a collection in `select`: as for a page, where nothing is sorted by but what its own sort names. */
export function planCollectionSort(
  context: Context,
  sort: readonly SortNode[],
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

function requested(context: Context, intent: ListIntent): OrderKey[] {
  const { resource } = context.root
  const { sort, sortBy, sortDirection } = intent
  if (sort !== null) return sort.flatMap((node) => counted(context, node))
  if (sortBy === null) return defaults(context, sortOf(resource, intent), sortDirection)
  const field = resource.byName.get(sortBy.toLowerCase())
  if (!field?.sortable || !context.view.readable(field, null)) return []
  return [{ column: ownColumn(field), direction: sortDirection ?? resource.query.defaultDirection }]
}

/** A key of the request's own. What the default sort reaches is the host's affair. */
function counted(context: Context, node: SortNode): OrderKey[] {
  const keys = keyOf(context, node)
  for (const { column } of keys) {
    context.tally.column(context.root, column, placeOf(context, node))
  }
  return keys
}

/** The default sort. A direction is that of its first key; where it turns that one, the others turn with it. */
function defaults(context: Context, order: readonly SortNode[], sortDirection: Direction | null): OrderKey[] {
  const keys = order.flatMap((node) => keyOf({ ...context, unknownFields: 'ignore' }, node))
  const isTurned = sortDirection !== null && keys[0]?.direction !== sortDirection
  return isTurned ? keys.map((key) => ({ ...key, direction: key.direction === 'asc' ? 'desc' : 'asc' })) : keys
}

function placeOf({ prefix }: Context, { offset }: Pick<SortNode, 'offset'>): Place {
  return { parameter: `${prefix}sort`, offset }
}

const MANY = ' A collection cannot be sorted by: sort by its Count.'
const ONE = ' A relation cannot be sorted by: sort by one of its fields, with a dot between.'

function hintFor(context: Context, { segments }: SortNode['path'], to: Destination): string {
  if (to.kind === 'collection') return MANY
  if (to.kind === 'relation') return ONE
  return computedReason(context, to) || suggestion(context, to, segments, ({ sortable }) => sortable)
}

/** The key's direction where nothing else orders the page. An unknown `sortBy` is no sort, and the key ascends. */
function keyDirection({ query }: Resource, { sort, sortBy, sortDirection }: ListIntent): Direction {
  return sort !== null || sortBy !== null ? 'asc' : (sortDirection ?? query.defaultDirection)
}

function keyOf(context: Context, { path, direction, offset }: SortNode): OrderKey[] {
  const to = follow(context, context.root, path, placeOf(context, { offset }))
  if (to.kind === 'field' && to.field.sortable && context.view.readable(to.field, to.reach)) {
    return [{ column: columnOf(to.hops, to.field), direction }]
  }
  if (to.kind === 'collection' && to.word === 'count' && to.rest === null) {
    return [{ column: countColumn(to.hops, to.hop), direction }]
  }
  if (context.unknownFields === 'ignore') return []
  throw unknownField(`${context.prefix}sort`, path.segments.join('.'), offset, hintFor(context, path, to))
}
