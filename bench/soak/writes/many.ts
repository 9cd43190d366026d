import { drop, type Item, isNothing, put, shownItem } from '../state.js'
import { APPLIED, bodyOf, FEWEST, keysOf, MINIMAL, MOST, type WriteMaker } from '../writes.js'
import { changeItems } from './items.js'

export const bulkCreate: WriteMaker = (making) => {
  const { state } = making
  if (state.items.size >= MOST) return null
  const items = making.items(2 + making.random(10))
  const isMinimal = making.isOneOf(6)
  return {
    kind: isMinimal ? 'bulk create minimal' : 'bulk create',
    resource: 'items',
    method: 'POST',
    path: '/api/items/bulk',
    headers: isMinimal ? MINIMAL : {},
    body: items.map(bodyOf),
    expected: isMinimal
      ? { status: 201, body: isNothing, headers: APPLIED }
      : { status: 201, body: items.map(shownItem) },
    next: { ...state, items: put(state.items, ...items) },
    ...(isMinimal ? { unnamed: true } : {}),
  }
}

/** Creates several records. The last record conflicts, so that the server must create none. */
export const bulkCreateTaken: WriteMaker = (making) => {
  const { state } = making
  const taken = making.any(state.items.values())
  if (taken === null) return null
  return {
    kind: 'bulk create taken',
    resource: 'items',
    method: 'POST',
    path: '/api/items/bulk',
    body: [...making.items(2 + making.random(5)).map(bodyOf), { ...bodyOf(making.item()), code: taken.code }],
    expected: { status: 409 },
    next: state,
  }
}

export const bulkDelete: WriteMaker = (making) => {
  const { state, gone } = making
  if (state.items.size <= FEWEST) return null
  const chosen = making.some(state.items.values(), 4, 10)
  const missing = gone.slice(-2)
  return {
    kind: 'bulk delete',
    resource: 'items',
    method: 'POST',
    path: '/api/items/bulk-delete',
    body: keysOf([...chosen.map(({ id }) => id), ...missing]),
    expected: { status: 200, body: { deleted: chosen.length } },
    next: { ...state, items: drop(state.items, ...chosen.map(({ code }) => code)) },
    removes: chosen.map(({ id }) => id),
  }
}

export const bulkUpdate: WriteMaker = (making) => {
  const { state } = making
  const itemChanges = changeItems(making)
  if (itemChanges.length === 0) return null
  const after = itemChanges.map((each) => each.after)
  return {
    kind: 'bulk update',
    resource: 'items',
    method: 'PATCH',
    path: '/api/items/bulk',
    body: itemChanges.map(({ item: { id, rowVersion }, changes }) => ({ id, rowVersion, ...changes })),
    expected: { status: 200, body: after.map(shownItem) },
    next: { ...state, items: put(state.items, ...after) },
  }
}

/** Updates several records. One record has another version or is deleted, so that the server must update none. */
export const bulkUpdateRefused: WriteMaker = (making) => {
  const { state, gone } = making
  const itemChanges = changeItems(making)
  const [last] = itemChanges.slice(-1)
  const isGone = making.isOneOf(2)
  const id = isGone ? gone.at(-1) : last?.item.id
  if (last === undefined || id === undefined) return null
  const items = itemChanges.slice(0, -1).map(({ item, changes }) => ({
    id: item.id,
    rowVersion: item.rowVersion,
    ...changes,
  }))
  return {
    kind: isGone ? 'bulk update gone' : 'bulk update stale',
    resource: 'items',
    method: 'PATCH',
    path: '/api/items/bulk',
    body: [...items, { id, rowVersion: last.item.rowVersion + 1, level: 1 }],
    expected: { status: isGone ? 404 : 412 },
    next: state,
  }
}

/** Upserts records by code. Some records exist, and others are created. */
export const upsert: WriteMaker = (making) => {
  const { state } = making
  if (state.items.size >= MOST) return null
  const itemChanges = changeItems(making)
  const made: Item[] = making.items(making.random(4))
  if (itemChanges.length + made.length === 0) return null
  return {
    kind: 'upsert',
    resource: 'items',
    method: 'PUT',
    path: '/api/items/bulk?by=code',
    body: [
      ...itemChanges.map(({ item: { code, rowVersion }, changes }) => ({ code, rowVersion, ...changes })),
      ...made.map(bodyOf),
    ],
    expected: { status: 200, body: { created: made.length, updated: itemChanges.length } },
    next: { ...state, items: put(state.items, ...itemChanges.map(({ after }) => after), ...made) },
    ...(made.length === 0 ? {} : { unnamed: true }),
  }
}
