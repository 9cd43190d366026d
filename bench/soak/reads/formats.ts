import { headersOf } from '../callers.js'
import { MANY, pageOf, pick, type ReadMaker, url } from '../read.js'
import { isStored, shownAccount, shownItem, sorted, tagOf } from '../state.js'
import { ITEM_FILTERS } from './lists.js'

/** Reads a list with the parameters in a QUERY body. */
export const byQuery: ReadMaker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'QUERY',
    path: '/api/items',
    query: { owner, filter, pageSize: MANY },
    expected: ({ items }) => pageOf(sorted([...items.values()].filter(meets)).map(shownItem), 1, MANY),
  }
}

/** Exports items as JSON lines. */
export const exported: ReadMaker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'JSON lines',
    path: url('items', { owner, filter, format: 'jsonl' }),
    expected: ({ items }) => {
      return { status: 200, body: sorted([...items.values()].filter(meets)).map(shownItem) }
    },
  }
}

function poor(owner: number) {
  return headersOf({ owner, name: 'somebody', money: false })
}

/** Reads accounts as a caller who may not see budgets. */
export const maskedAccounts: ReadMaker = ({ owner }) => ({
  kind: 'masked list',
  path: url('accounts', { owner, pageSize: MANY }),
  headers: poor(owner),
  expected: ({ accounts }) =>
    pageOf(
      sorted(accounts.values()).map((account) => shownAccount(account, false)),
      1,
      MANY,
    ),
})

/** Filters by budget. A caller who may not see budgets gets the error for an unknown field. */
export const maskedFilter: ReadMaker = ({ owner }, random) => {
  const above = random(100_000)
  const isRich = random(2) === 0
  return {
    kind: isRich ? 'unmasked filter' : 'masked filter',
    path: url('accounts', { owner, filter: `Budget>${above}`, pageSize: MANY }),
    ...(isRich ? {} : { headers: poor(owner) }),
    expected: ({ accounts }) => {
      if (!isRich) return { status: 400 }
      const rows = sorted([...accounts.values()].filter(({ budget }) => budget > above))
      return pageOf(
        rows.map((account) => shownAccount(account)),
        1,
        MANY,
      )
    },
  }
}

export const nobody: ReadMaker = ({ owner }) => ({
  kind: 'anonymous',
  path: url('tasks', { owner }),
  headers: { 'x-caller': '' },
  expected: () => ({ status: 401 }),
})

/** Sends a conditional read. The response is 304 unless the version has changed. */
export const unchanged: ReadMaker = ({ state, gone }, random) => {
  const items = [...state.items.values()].filter(isStored)
  const known = items.length === 0 ? null : pick(random, items)
  const id = known?.id ?? gone.at(-1) ?? -1
  const tag = known === null ? 'W/"0"' : tagOf(known)
  return {
    kind: 'If-None-Match',
    path: `/api/items/${id}`,
    also: { 'if-none-match': tag },
    expected: (now) => {
      const item = [...now.items.values()].find((each) => each.id === id)
      if (item === undefined) return { status: 404 }
      const headers = { etag: tagOf(item) }
      return tagOf(item) === tag ? { status: 304, headers } : { status: 200, headers, body: shownItem(item) }
    },
  }
}
