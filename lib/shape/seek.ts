import type { Row } from '../../types/outcome.js'
import type { CursorPosition, CursorValue, OrderKey, SeekPlan } from '../../types/plan.js'
import { encodeCursorToken, isCursorValue, MAX_TOKEN_LENGTH } from '../common/cursorToken.js'
import { invalidQuery } from '../common/problem.js'
import type { Cursors } from './links.js'

/**
 * Creates the cursor tokens of the neighboring pages. On an empty page, the previous page ends at the position of the
 * empty page, inclusive.
 * @throws Problem if a required token would be too large for the values of a record
 */
export function createCursors(plan: SeekPlan, rows: readonly Row[], more: boolean): Cursors {
  const { isBackward, position, sortSignature } = plan
  const [first, last] = [rows[0], rows.at(-1)]
  // `more` tells whether records follow in the direction of the page. Records exist in the other direction, unless the
  // page starts at the beginning.
  if (first === undefined || last === undefined) {
    const token = position === null ? null : encodeCursorToken(sortSignature, { ...position, inclusive: true })
    return isBackward ? { nextCursor: token, previousCursor: null } : { nextCursor: null, previousCursor: token }
  }
  return {
    nextCursor: isBackward || more ? encodeRowCursor(plan, last) : null,
    previousCursor: (isBackward ? more : position !== null) ? encodeRowCursor(plan, first) : null,
  }
}

function encodeRowCursor(plan: SeekPlan, row: Row): string {
  const { sortSignature, order, projection, isBackward } = plan
  const { length } = projection.columns
  const values = row.slice(length, length + order.length)
  const isEncodable = values.every(isCursorValue)
  const token = isEncodable ? encodeCursorToken(sortSignature, createPosition(values)) : ''
  if (isEncodable && token.length <= MAX_TOKEN_LENGTH) return token
  const lengths = values.map((value) => (isCursorValue(value) ? String(value).length : Number.POSITIVE_INFINITY))
  const longest = order[lengths.indexOf(Math.max(...lengths))]
  const name = longest === undefined ? '' : orderPathOf(longest)
  throw invalidQuery(
    isBackward ? 'before' : 'after',
    `cannot continue after this page, because a value of "${name}" is too long for a cursor. Sort by other fields.`,
  )
}

function createPosition(values: readonly CursorValue[]): CursorPosition {
  return { inclusive: false, values }
}

function orderPathOf({ column: { joins, field } }: OrderKey): string {
  return [...joins.map(({ relation }) => relation.json), field.json].join('.')
}
