import { headersOf } from '../callers.js'
import { drop, type Item, isNothing, put, shownItem, sorted, tagOf } from '../state.js'
import { APPLIED, bodyOf, FEWEST, type Making, MINIMAL, MOST, type Write, type WriteMaker } from '../writes.js'

function some(making: Making): (Item & { readonly id: number }) | null {
  return making.any(making.state.items.values())
}

export const create: WriteMaker = (making) => {
  const { state } = making
  if (state.items.size >= MOST) return null
  const item = making.item()
  const isMinimal = making.isOneOf(6)
  return {
    kind: isMinimal ? 'create minimal' : 'create',
    resource: 'items',
    method: 'POST',
    path: '/api/items',
    body: bodyOf(item),
    headers: isMinimal ? MINIMAL : {},
    expected: isMinimal
      ? { status: 201, body: isNothing, headers: { etag: tagOf(item), ...APPLIED } }
      : { status: 201, body: shownItem(item), headers: { etag: tagOf(item) } },
    next: { ...state, items: put(state.items, item) },
    ...(isMinimal ? { unnamed: true } : {}),
  }
}

export const createTaken: WriteMaker = (making) => {
  const { state } = making
  const taken = some(making)
  if (taken === null) return null
  return {
    kind: 'create taken',
    resource: 'items',
    method: 'POST',
    path: '/api/items',
    body: { ...bodyOf(making.item()), code: taken.code },
    expected: { status: 409 },
    next: state,
  }
}

function changeItem(making: Making, item: Item): { readonly changes: Partial<Item>; readonly after: Item } {
  const changes: Partial<Item> = [
    () => ({ level: making.level() }),
    () => ({ note: null }),
    () => ({ name: making.name(), note: making.note() }),
    () => ({ meta: null }),
    // The change has the current value. The version increases nevertheless.
    () => ({ name: item.name }),
  ][making.random(5)]?.() ?? { level: making.level() }
  return { changes, after: { ...item, ...changes, rowVersion: item.rowVersion + 1 } }
}

export const patch: WriteMaker = (making) => {
  const { state } = making
  const item = some(making)
  if (item === null) return null
  const { changes, after } = changeItem(making, item)
  const isMinimal = making.isOneOf(6)
  const headers = { 'if-match': tagOf(item) }
  return {
    kind: isMinimal ? 'PATCH minimal' : 'PATCH If-Match',
    resource: 'items',
    method: 'PATCH',
    path: `/api/items/${item.id}`,
    headers: isMinimal ? { ...headers, ...MINIMAL } : headers,
    body: changes,
    expected: isMinimal
      ? { status: 204, body: isNothing, headers: { etag: tagOf(after), ...APPLIED } }
      : { status: 200, body: shownItem(after), headers: { etag: tagOf(after) } },
    next: { ...state, items: put(state.items, after) },
  }
}

/** Replaces an item. Members that the body omits become null. */
export const replace: WriteMaker = (making) => {
  const { state } = making
  const item = some(making)
  if (item === null) return null
  const { owner, code, accountId } = item
  const body = { owner, code, accountId, name: making.name(), level: making.level() }
  const more = making.isOneOf(2) ? { note: making.note() } : { meta: making.meta() }
  const after: Item = { ...item, note: null, meta: null, ...body, ...more, rowVersion: item.rowVersion + 1 }
  return {
    kind: 'PUT',
    resource: 'items',
    method: 'PUT',
    path: `/api/items/${item.id}`,
    headers: { 'if-match': tagOf(item) },
    body: { ...body, ...more },
    expected: { status: 200, body: shownItem(after), headers: { etag: tagOf(after) } },
    next: { ...state, items: put(state.items, after) },
  }
}

/** A write that the server must reject, with the expected status. */
type Refused = (making: Making, item: Item) => Pick<Write, 'kind' | 'headers' | 'body' | 'expected'>

const REFUSED: readonly Refused[] = [
  (_, { rowVersion }) => ({
    kind: 'PATCH stale',
    headers: { 'if-match': `W/"${rowVersion === 0 ? 9 : rowVersion - 1}"` },
    body: { level: 1 },
    expected: { status: 412 },
  }),
  () => ({ kind: 'PATCH no version', headers: {}, body: { level: 1 }, expected: { status: 428 } }),
  (_, item) => ({
    kind: 'PATCH invalid',
    headers: { 'if-match': tagOf(item) },
    body: { level: 101 },
    expected: { status: 400 },
  }),
  // The record is outside of the scope of another owner, so the server answers as if it did not exist.
  (making) => ({
    kind: 'PATCH of another',
    headers: { 'if-match': '*', ...headersOf({ ...making.caller, owner: making.owner + 1 }) },
    body: { level: 1 },
    expected: { status: 404 },
  }),
  // Anonymous callers may not write.
  () => ({ kind: 'PATCH of nobody', headers: { 'x-caller': '' }, body: { level: 1 }, expected: { status: 401 } }),
]

export const refused: WriteMaker = (making) => {
  const item = some(making)
  const refusal = REFUSED[making.random(REFUSED.length)]
  if (item === null || refusal === undefined) return null
  return {
    ...refusal(making, item),
    resource: 'items',
    method: 'PATCH',
    path: `/api/items/${item.id}`,
    next: making.state,
  }
}

export const patchGone: WriteMaker = ({ state, gone }) => ({
  kind: 'PATCH gone',
  resource: 'items',
  method: 'PATCH',
  path: `/api/items/${gone.at(-1) ?? -1}`,
  headers: { 'if-match': '*' },
  body: { level: 1 },
  expected: { status: 404 },
  next: state,
})

export const remove: WriteMaker = (making) => {
  const { state } = making
  const item = state.items.size > FEWEST ? some(making) : null
  if (item === null) return null
  return {
    kind: 'DELETE',
    resource: 'items',
    method: 'DELETE',
    path: `/api/items/${item.id}`,
    headers: making.isOneOf(2) ? {} : { 'if-match': tagOf(item) },
    expected: { status: 204 },
    next: { ...state, items: drop(state.items, item.code) },
    removes: [item.id],
  }
}

/** Chooses some records in any order, with changes for each. */
export function changeItems(making: Making): { readonly item: Item; readonly changes: object; readonly after: Item }[] {
  const chosen = making.some(making.state.items.values(), 5, 8)
  const isTurned = making.isOneOf(2)
  return (isTurned ? sorted(chosen).reverse() : chosen).map((item) => ({ item, ...changeItem(making, item) }))
}
