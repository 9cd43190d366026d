import {
  type Account,
  drop,
  type Item,
  isStored,
  itemsOf,
  NEW,
  put,
  shownAccount,
  shownItem,
  shownTag,
  type Tag,
} from '../state.js'
import { bodyOf, type Making, MOST, type Write, type WriteMaker } from '../writes.js'

/** Number of accounts that are never deleted. */
const LASTING = 4
const MOST_ACCOUNTS = 7
const TAGS = 5

function account(making: Making): Account {
  const { owner } = making
  const budget = making.random(10_000_000) / 100
  return { id: null, code: making.code(), owner, name: making.name(), rank: making.random(10), budget, tags: [] }
}

function toBody({ id: _, tags: __, ...body }: Account): object {
  return body
}

/** Creates the accounts and tags that other records refer to. These records are written before all others. */
export const first: readonly ((making: Making) => Write)[] = [
  (making) => {
    const accounts = Array.from({ length: LASTING }, () => account(making))
    return {
      kind: 'bulk create',
      resource: 'accounts',
      method: 'POST',
      path: '/api/accounts/bulk',
      body: accounts.map(toBody),
      expected: { status: 201, body: accounts.map((each) => shownAccount(each)) },
      next: { ...making.state, accounts: put(making.state.accounts, ...accounts) },
    }
  },
  (making) => {
    const { owner } = making
    const tags = Array.from({ length: TAGS }, (_, index): Tag => {
      return { id: null, code: making.code(), owner, label: `tag ${index}` }
    })
    return {
      kind: 'bulk create',
      resource: 'tags',
      method: 'POST',
      path: '/api/tags/bulk',
      body: tags.map(({ id: _, ...body }) => body),
      expected: { status: 201, body: tags.map(shownTag) },
      next: { ...making.state, tags: put(making.state.tags, ...tags) },
    }
  },
]

function chosenTags(making: Making): number[] {
  return making.tags().filter(() => making.isOneOf(2))
}

export const patchAccount: WriteMaker = (making) => {
  const { state } = making
  const before = making.any(state.accounts.values())
  if (before === null) return null
  // Changes may contain the current value.
  const changes = {
    rank: making.random(10),
    ...(making.isOneOf(2) ? { name: making.name() } : {}),
    ...(making.isOneOf(4) ? { tags: chosenTags(making) } : {}),
  }
  const after: Account = { ...before, ...changes }
  const { tags } = changes
  return {
    kind: tags === undefined ? 'PATCH' : 'PATCH with links',
    resource: 'accounts',
    method: 'PATCH',
    path: `/api/accounts/${before.id}`,
    body: changes,
    expected: { status: 200, body: { ...shownAccount(after), ...(tags === undefined ? {} : { tags }) } },
    next: { ...state, accounts: put(state.accounts, after) },
  }
}

/** Creates requests to routes that add or remove one or several links. */
export const link: WriteMaker = (making) => {
  const { state } = making
  const before = making.any(state.accounts.values())
  const tags = making.tags()
  const tag = tags[making.random(tags.length || 1)]
  if (before === null || tag === undefined) return null
  const linked = before.tags
  const path = `/api/accounts/${before.id}/tags`
  const known = (after: readonly number[]) => ({
    resource: 'accounts' as const,
    next:
      String(after) === String(linked)
        ? state
        : { ...state, accounts: put(state.accounts, { ...before, tags: after }) },
  })
  const chosen = chosenTags(making)
  const added = chosen.filter((id) => !linked.includes(id))
  const all = tags.filter((id) => linked.includes(id) || added.includes(id))
  const ways: readonly (() => Write)[] = [
    () => ({
      ...known(tags.filter((id) => id === tag || linked.includes(id))),
      kind: 'link',
      method: 'PUT',
      path: `${path}/${tag}`,
      expected: { status: 204 },
    }),
    () => ({
      ...known(linked.filter((id) => id !== tag)),
      kind: linked.includes(tag) ? 'unlink' : 'unlink unlinked',
      method: 'DELETE',
      path: `${path}/${tag}`,
      expected: { status: linked.includes(tag) ? 204 : 404 },
    }),
    () => ({
      ...known(chosen),
      kind: 'link exactly',
      method: 'PUT',
      path,
      body: chosen,
      expected: {
        status: 200,
        body: { linked: added.length, unlinked: linked.filter((id) => !chosen.includes(id)).length },
      },
    }),
    () => ({
      ...known(all),
      kind: 'link more',
      method: 'POST',
      path,
      body: chosen,
      expected: { status: 200, body: { linked: added.length } },
    }),
  ]
  return ways[making.random(ways.length)]?.() ?? null
}

/** Creates an account and its items with one body. */
export const nestedCreate: WriteMaker = (making) => {
  const { state } = making
  if (state.accounts.size >= MOST_ACCOUNTS || state.items.size >= MOST) return null
  const made = account(making)
  const items = Array.from({ length: 1 + making.random(4) }, () => making.item(NEW))
  return {
    kind: 'nested create',
    resource: 'accounts',
    method: 'POST',
    path: '/api/accounts',
    body: { ...toBody(made), items: items.map(toNestedBody) },
    expected: { status: 201, body: { ...shownAccount(made), items: items.map(shownItem) } },
    next: { ...state, accounts: put(state.accounts, made), items: put(state.items, ...items) },
    withItems: true,
    once: true,
  }
}

function toNestedBody(item: Item): object {
  const { accountId: _, ...body } = bodyOf(item) as Item
  return body
}

/** Replaces the items of an account. The body keeps, changes and creates items. Items that it omits are deleted. */
export const nestedReplace: WriteMaker = (making) => {
  const { state } = making
  const owner = making.any(state.accounts.values())
  if (owner === null) return null
  const there = itemsOf(owner, state)
  const stored = there.filter(isStored)
  // The body could not keep an item whose key is unknown.
  if (stored.length < there.length) return null
  const isEmpty = making.accounts().indexOf(owner) >= LASTING && making.isOneOf(2)
  const remaining = isEmpty ? [] : stored.filter(() => !making.isOneOf(5))
  const isChanged = remaining.map(() => making.isOneOf(3))
  const level = making.level()
  const after = remaining.map((item, index) =>
    isChanged[index] ? { ...item, level, rowVersion: item.rowVersion + 1 } : item,
  )
  const isFull = state.items.size >= MOST || isEmpty
  const made = Array.from({ length: isFull ? 0 : making.random(3) }, () => making.item(owner.id))
  const deleted = stored.filter((item) => !remaining.includes(item))
  const items = drop(state.items, ...deleted.map(({ code }) => code))
  return {
    kind: 'nested replace',
    resource: 'items',
    method: 'PATCH',
    path: `/api/accounts/${owner.id}`,
    body: {
      items: [
        ...remaining.map(({ id, rowVersion }, index) => (isChanged[index] ? { id, rowVersion, level } : { id })),
        ...made.map(toNestedBody),
      ],
    },
    expected: { status: 200, body: { ...shownAccount(owner), items: [...after, ...made].map(shownItem) } },
    next: { ...state, items: put(items, ...after, ...made) },
    removes: deleted.map(({ id }) => id),
    withItems: true,
  }
}

/** Deletes an account that is not permanent. The server rejects the deletion while the account has items. */
export const deleteAccount: WriteMaker = (making) => {
  const { state } = making
  const chosen = making.any(making.accounts().slice(LASTING))
  if (chosen === null) return null
  const isFree = itemsOf(chosen, state).length === 0
  return {
    kind: isFree ? 'DELETE' : 'DELETE referred to',
    resource: 'accounts',
    method: 'DELETE',
    path: `/api/accounts/${chosen.id}`,
    expected: { status: isFree ? 204 : 409 },
    next: isFree ? { ...state, accounts: drop(state.accounts, chosen.code) } : state,
  }
}
