import type { Row } from '../../types/outcome.js'
import type { Bookmark, BookmarkValue, OrderKey, SeekPlan } from '../../types/plan.js'
import { TOKEN_LENGTH, tokenOf } from '../common/bookmark.js'
import { invalidQuery } from '../common/problem.js'
import type { Cursors } from './links.js'

/**
 * The cursor tokens of the neighbouring pages. On an empty page the previous page ends at the page's own position,
 * inclusive.
 * @throws Problem if the values of a record do not fit into a token that is needed
 */
export function cursorsOf(plan: SeekPlan, rows: readonly Row[], more: boolean): Cursors {
  const { back, from, mark } = plan
  const [first, last] = [rows[0], rows.at(-1)]
  // `more` tells whether records follow in the direction of the page. In the other direction there are some, unless the
  // page starts at the beginning.
  if (first === undefined || last === undefined) {
    const token = from === null ? null : tokenOf(mark, { ...from, inclusive: true })
    return back ? { nextCursor: token, previousCursor: null } : { nextCursor: null, previousCursor: token }
  }
  return {
    nextCursor: back || more ? cursorOf(plan, last) : null,
    previousCursor: (back ? more : from !== null) ? cursorOf(plan, first) : null,
  }
}

function cursorOf(plan: SeekPlan, row: Row): string {
  const { mark, order, projection, back } = plan
  const { length } = projection.columns
  const values = row.slice(length, length + order.length)
  const held = values.every(isHeld)
  const token = held ? tokenOf(mark, bookmarkOf(values)) : ''
  if (held && token.length <= TOKEN_LENGTH) return token
  const lengths = values.map((value) => (isHeld(value) ? String(value).length : Number.POSITIVE_INFINITY))
  const longest = order[lengths.indexOf(Math.max(...lengths))]
  const name = longest === undefined ? '' : pathOf(longest)
  throw invalidQuery(back ? 'before' : 'after', `cannot go on here: a value of "${name}" does not fit into a cursor.`)
}

function bookmarkOf(values: readonly BookmarkValue[]): Bookmark {
  return { inclusive: false, values }
}

function isHeld(value: unknown): value is BookmarkValue {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function pathOf({ column: { hops, field } }: OrderKey): string {
  return [...hops.map(({ relation }) => relation.json), field.json].join('.')
}
