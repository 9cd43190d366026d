import type { Field } from '../../types/field.js'
import type { ListIntent } from '../../types/intent.js'
import type { OrderKey } from '../../types/plan.js'
import type { Direction, SortNode } from '../../types/query.js'
import type { Resource } from '../../types/resource.js'
import { columnOf, countColumn, isOwnColumn, ownColumn } from '../common/columns.js'
import { type Context, createUnknownFieldProblem, explainComputedField, suggestField } from './context.js'
import { type Destination, resolveForCaller } from './path.js'
import type { QueryPosition } from './queryCost.js'

/**
 * Plans the order of a page: `sort` overrides `sortBy`, which overrides the default sort. The order always ends with
 * the key, so that pages never overlap. The key has the direction of the last sort key, so that one index serves both.
 * @throws Problem `unknown-field`
 */
export function planSort(context: Context, intent: ListIntent): readonly OrderKey[] {
  const { resource } = context.root
  const { sort, sortBy, sortDirection } = intent
  // After an unknown `sortBy`, which is ignored, the key ascends.
  const direction = sort !== null || sortBy !== null ? 'asc' : (sortDirection ?? resource.query.defaultDirection)
  return completeOrder(planRequestedSort(context, intent), resource.keys, direction)
}

/** Whether responses of a mode use the order of the list. */
const ORDERED_MODES: Readonly<Record<ListIntent['mode'], boolean>> = {
  page: true,
  select: true,
  seek: true,
  export: true,
  count: false,
  cursor: false,
  aggregate: false,
}

/**
 * Returns the keys of `sort`, otherwise of the default sort. Returns an empty array if `sortBy` orders the page, or if
 * the mode has no order.
 */
export function sortNodesOf({ defaultSort }: Resource, { mode, sort, sortBy }: ListIntent): readonly SortNode[] {
  if (sort !== null) return sort
  return sortBy === null && ORDERED_MODES[mode] ? defaultSort : []
}

/** Plans the order of a collection in `select`. Unlike a page, a collection has no default sort. */
export function planCollectionSort(
  context: Context,
  sort: readonly SortNode[],
  order: readonly Field[],
): readonly OrderKey[] {
  return completeOrder(
    sort.flatMap((node) => planCountedSort(context, node)),
    order,
    'asc',
  )
}

/**
 * Completes an order with fields that make the order total. These fields have the direction of the last key, or `own`
 * without keys.
 */
function completeOrder(keys: readonly OrderKey[], last: readonly Field[], own: Direction): readonly OrderKey[] {
  const order = [...keys]
  const direction = keys.at(-1)?.direction ?? own
  for (const field of last) {
    if (!keys.some(({ column }) => isOwnColumn(column, field))) order.push({ column: ownColumn(field), direction })
  }
  return order
}

function planRequestedSort(context: Context, intent: ListIntent): OrderKey[] {
  const { resource } = context.root
  const { sort, sortBy, sortDirection } = intent
  if (sort !== null) return sort.flatMap((node) => planCountedSort(context, node))
  if (sortBy === null) return planDefaultSort(context, sortNodesOf(resource, intent), sortDirection)
  const field = resource.byName.get(sortBy.toLowerCase())
  if (!field?.sortable || !context.view.readable(field, null)) return []
  return [{ column: ownColumn(field), direction: sortDirection ?? resource.query.defaultDirection }]
}

/** Plans a sort key of the request and counts its path as query cost. Paths of the default sort are not counted. */
function planCountedSort(context: Context, node: SortNode): OrderKey[] {
  const keys = planSortKey(context, node)
  for (const { column } of keys) {
    context.queryCost.addColumn(context.root, column, sortPosition(context, node))
  }
  return keys
}

/**
 * Plans the keys of the default sort. `sortDirection` is the requested direction of the first key. If it differs from
 * the configured direction, all keys are reversed.
 */
function planDefaultSort(context: Context, order: readonly SortNode[], sortDirection: Direction | null): OrderKey[] {
  const keys = order.flatMap((node) => planSortKey({ ...context, unknownFields: 'ignore' }, node))
  const isTurned = sortDirection !== null && keys[0]?.direction !== sortDirection
  return isTurned ? keys.map((key) => ({ ...key, direction: key.direction === 'asc' ? 'desc' : 'asc' })) : keys
}

function sortPosition({ prefix }: Context, { offset }: Pick<SortNode, 'offset'>): QueryPosition {
  return { parameter: `${prefix}sort`, offset }
}

const COLLECTION_HINT = ' Lists cannot be sorted by a collection. Sort by its Count.'
const RELATION_HINT = ' Lists cannot be sorted by a relation. Sort by one of its fields, such as team.name.'

function hintForSort(context: Context, { segments }: SortNode['path'], to: Destination): string {
  if (to.kind === 'collection') return COLLECTION_HINT
  if (to.kind === 'relation') return RELATION_HINT
  return explainComputedField(context, to) || suggestField(context, to, segments, ({ sortable }) => sortable)
}

function planSortKey(context: Context, { path, direction, offset }: SortNode): OrderKey[] {
  const to = resolveForCaller(context, context.root, path, sortPosition(context, { offset }))
  if (to.kind === 'field' && to.field.sortable && context.view.readable(to.field, to.access)) {
    return [{ column: columnOf(to.joins, to.field), direction }]
  }
  if (to.kind === 'collection' && to.word === 'count' && to.rest === null) {
    return [{ column: countColumn(to.joins, to.join), direction }]
  }
  if (context.unknownFields === 'ignore') return []
  throw createUnknownFieldProblem(
    `${context.prefix}sort`,
    path.segments.join('.'),
    offset,
    hintForSort(context, path, to),
  )
}
