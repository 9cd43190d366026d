import { type Read, url } from '../read.js'
import { compare, type Item, isText, isTextOrNull, shownItem, sorted } from '../state.js'

/** Next step of a walk through pages: its cursor, its direction, and the record before the next page. */
export interface Step {
  readonly token: string
  readonly isBack: boolean
  readonly values: Values
}

type Values = readonly [level: number, name: string, id: number]

/**
 * A walk through pages. One kind follows the cursor from the first key to the last. The other kind follows tokens of
 * another order, with occasional steps back.
 */
export interface Walk {
  readonly read: (owner: number, step: Step | null) => Read
  /** Returns the next step. Null restarts the walk. */
  readonly next: (body: unknown, isBack: boolean) => Step | null
}

const SIZE = 7

function valuesOf(item: unknown): Values | null {
  const { level, name, id }: { level?: unknown; name?: unknown; id?: unknown } = Object(item)
  return typeof level === 'number' && typeof name === 'string' && typeof id === 'number' ? [level, name, id] : null
}

function stepOf(token: unknown, item: unknown, isBack: boolean): Step | null {
  const values = valuesOf(item)
  return typeof token === 'string' && values !== null ? { token, isBack, values } : null
}

export const byCursor: Walk = {
  read: (owner, step) => ({
    kind: 'cursor page',
    path: url('items', { owner, cursor: step?.token ?? '', pageSize: SIZE }),
    expected: ({ items }) => {
      const after = step?.values[2] ?? 0
      const rest = sorted(items.values()).filter(({ id }) => id === null || id > after)
      const nextCursor = rest.length > SIZE ? isText : null
      return { status: 200, body: { items: rest.slice(0, SIZE).map(shownItem), nextCursor, pageSize: SIZE } }
    },
  }),
  next: (body) => {
    const { items, nextCursor }: { items?: unknown; nextCursor?: unknown } = Object(body)
    return Array.isArray(items) ? stepOf(nextCursor, items.at(-1), false) : null
  },
}

/** Compares items in the order of the walk by tokens: level descending, then name, then key. */
function order(left: Values, right: Values): number {
  return right[0] - left[0] || compare(left[1], right[1]) || left[2] - right[2]
}

function placeOf({ level, name, id }: Item): Values {
  return [level, name, id ?? Number.MAX_SAFE_INTEGER]
}

export const byTokens: Walk = {
  read: (owner, step) => ({
    kind: step?.isBack === true ? 'page before' : 'page after',
    path: url('items', {
      ...{ owner, sort: '-Level,Name', pageSize: SIZE },
      [step?.isBack === true ? 'before' : 'after']: step?.token ?? '',
    }),
    expected: (state) => {
      // Items are first sorted by key. New records with unknown keys keep the order of their codes.
      const all = sorted(state.items.values()).sort((left, right) => order(placeOf(left), placeOf(right)))
      const isBack = step?.isBack === true
      const following = all.filter((item) => {
        const way = step === null ? 1 : order(placeOf(item), step.values)
        return isBack ? way < 0 : way > 0
      })
      const page = isBack ? following.slice(-SIZE) : following.slice(0, SIZE)
      const onwards = following.length > SIZE ? isText : null
      // The token for the opposite direction is not checked.
      const back = step === null ? null : isTextOrNull
      const tokens = isBack
        ? { previousCursor: onwards, nextCursor: back }
        : { nextCursor: onwards, previousCursor: back }
      return { status: 200, body: { items: page.map(shownItem), pageSize: SIZE, ...tokens } }
    },
  }),
  next: (body, isBack) => {
    const page: { items?: unknown; nextCursor?: unknown; previousCursor?: unknown } = Object(body)
    const items: readonly unknown[] = Array.isArray(page.items) ? page.items : []
    return isBack ? stepOf(page.previousCursor, items[0], true) : stepOf(page.nextCursor, items.at(-1), false)
  },
}

export const WALKS: readonly Walk[] = [byCursor, byTokens]
