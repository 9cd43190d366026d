import type { ListIntent } from '../../types/intent.js'
import type { CursorPosition, OrderKey, SeekPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { isOwnColumn } from '../common/columns.js'
import { createSortSignature, decodeCursorToken } from '../common/cursorToken.js'
import { internalError } from '../common/internalError.js'
import { invalidQuery } from '../common/problem.js'

/** Position in a list. Every list plan has these members. */
type PositionMembers = Pick<SeekPlan, 'isBackward' | 'position' | 'sortSignature'>

/**
 * Parses the start and direction of a page.
 * @throws Problem for an order with keys that the caller cannot see, and for malformed tokens or tokens of another
 * order
 */
export function readPosition(
  resource: Resource,
  { mode, seek }: ListIntent,
  order: readonly OrderKey[],
): PositionMembers {
  if (seek === null) throw internalError('a list without the parameters "after" and "before" has no cursor')
  const { parameter, token } = seek
  const mark = createSortSignature([resource.name, resource.route, ...order.map(orderNameOf)])
  // Only an export returns no cursor tokens, so its order may contain hidden keys.
  if ((mode === 'seek' || token !== null) && !order.every((key) => isKeyVisible(resource, key))) {
    throw invalidQuery(
      parameter,
      'cannot be used with this sort, because the records of the list do not contain a sort field.',
    )
  }
  const from = token === null ? null : decodeCursorToken(mark, token)
  if (token !== null && (from === null || !hasFittingValues(resource, order, from))) {
    throw invalidQuery(parameter, 'is not a cursor of this resource and order.')
  }
  return { isBackward: parameter === 'before', position: from, sortSignature: mark }
}

/**
 * Whether a cursor token may contain the value of a sort key. A token shows the value to the caller. The record's own
 * key, the number of related records, and fields of lists are not secret.
 */
function isKeyVisible({ keys }: Resource, { column }: OrderKey): boolean {
  return (
    keys.some((key) => isOwnColumn(column, key)) || column.countedJoin !== undefined || column.field.targets.has('list')
  )
}

function orderNameOf({ column: { joins, field, countedJoin }, direction }: OrderKey): string {
  const way = countedJoin === undefined ? joins : [...joins, countedJoin]
  return [...way.map(({ relation }) => relation.name), field.name, direction].join('.')
}

function hasFittingValues({ dialect }: Resource, order: readonly OrderKey[], { values }: CursorPosition): boolean {
  const { isComparable } = dialect().orderKeys
  const isFit = ({ column }: OrderKey, index: number): boolean => {
    const value = values[index] ?? null
    return value === null || isComparable(value, column.field)
  }
  return values.length === order.length && order.every(isFit)
}
