import type { ListIntent } from '../../types/intent.js'
import type { Bookmark, OrderKey, SeekPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { bookmarkIn, markOf } from '../common/bookmark.js'
import { isOwn } from '../common/columns.js'
import { invalidQuery } from '../common/problem.js'

/** Position members that every list plan has. */
type Placed = Pick<SeekPlan, 'back' | 'from' | 'mark'>

/**
 * Start and direction of a page in its order.
 *
 * @throws Problem for an order with keys that the caller cannot see, and for malformed tokens or tokens of another order
 */
export function placeIn(resource: Resource, { mode, seek }: ListIntent, order: readonly OrderKey[]): Placed {
  if (seek === null) throw new TypeError('a list of another mode has no place to go on from')
  const { parameter, token } = seek
  const mark = markOf([resource.name, resource.route, ...order.map(nameOf)])
  // An export returns no cursor tokens.
  if ((mode === 'seek' || token !== null) && !order.every((key) => isShown(resource, key))) {
    throw invalidQuery(parameter, 'cannot be used with this order: a sort key is not part of the list.')
  }
  const from = token === null ? null : bookmarkIn(mark, token)
  if (token !== null && (from === null || !fits(resource, order, from))) {
    throw invalidQuery(parameter, 'is not a cursor of this resource and order.')
  }
  return { back: parameter === 'before', from, mark }
}

/** Whether a cursor token may contain a key's value. Callers may only sort by fields that they may read; the record's own key is no secret. */
function isShown({ keys }: Resource, { column }: OrderKey): boolean {
  return keys.some((key) => isOwn(column, key)) || column.counted !== undefined || column.field.targets.has('list')
}

function nameOf({ column: { hops, field, counted }, direction }: OrderKey): string {
  const way = counted === undefined ? hops : [...hops, counted]
  return [...way.map(({ relation }) => relation.name), field.name, direction].join('.')
}

function fits({ dialect }: Resource, order: readonly OrderKey[], { values }: Bookmark): boolean {
  const { admits } = dialect().keys
  const isFit = ({ column }: OrderKey, index: number): boolean => {
    const value = values[index] ?? null
    return value === null || admits(value, column.field)
  }
  return values.length === order.length && order.every(isFit)
}
