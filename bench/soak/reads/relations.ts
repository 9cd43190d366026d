import type { Partition } from '../partition.js'
import { MANY, pageOf, pick, type Random, type ReadMaker, url } from '../read.js'
import { accountOf, compare, isStored, itemsOf, shownAccount, shownItem, shownTag, sorted } from '../state.js'

/** Reads collections inside records: sorted, limited to the first records, and counted. */
export const embedded: ReadMaker = ({ owner }, random) => {
  const limit = 1 + random(5)
  const above = random(60)
  const select = 'Code,Items(Code,Level),Items.Count,Tags.Label'
  return {
    kind: 'collections',
    path: url('accounts', {
      ...{ owner, select, pageSize: MANY },
      ...{ 'items.sort': '-Level,Code', 'items.limit': limit, 'items.filter': `Level>${above}` },
    }),
    expected: (state) => {
      const rows = sorted(state.accounts.values()).map((account) => {
        const all = itemsOf(account, state)
        const items = all
          .filter(({ level }) => level > above)
          .sort((left, right) => right.level - left.level || compare(left.code, right.code))
          .map(({ code, level }) => ({ code, level }))
        return {
          code: account.code,
          items: items.slice(0, limit),
          ...(items.length > limit ? { 'items@more': true } : {}),
          itemsCount: all.length,
          tags: sorted(state.tags.values())
            .filter(({ id }) => id !== null && account.tags.includes(id))
            .map(({ label }) => ({ label })),
        }
      })
      return pageOf(rows, 1, MANY)
    },
  }
}

function someAccount({ state }: Partition, random: Random): number {
  const accounts = [...state.accounts.values()].filter(isStored)
  return accounts.length === 0 ? -1 : pick(random, accounts).id
}

/** Reads the tags of an account through the nested route. */
export const linked: ReadMaker = (partition, random) => {
  const account = someAccount(partition, random)
  return {
    kind: 'linked',
    path: `/api/accounts/${account}/tags`,
    expected: ({ accounts, tags }) => {
      const there = [...accounts.values()].find(({ id }) => id === account)
      if (there === undefined) return { status: 404 }
      const shown = sorted(tags.values()).filter(({ id }) => id !== null && there.tags.includes(id))
      return pageOf(shown.map(shownTag), 1, 20)
    },
  }
}

/** Reads the items of an account through the nested route. */
export const nested: ReadMaker = (partition, random) => {
  const account = someAccount(partition, random)
  const level = random(80)
  return {
    kind: 'nested list',
    path: url(`accounts/${account}/items`, { filter: `Level>${level}`, pageSize: MANY }),
    expected: (state) => {
      const there = [...state.accounts.values()].find(({ id }) => id === account)
      if (there === undefined) return { status: 404 }
      const items = itemsOf(there, state).filter((item) => item.level > level)
      return pageOf(items.map(shownItem), 1, MANY)
    },
  }
}

/** Reads the account of an item through the nested route. */
export const accountOfItem: ReadMaker = ({ state, gone }, random) => {
  const items = [...state.items.values()].filter(isStored)
  const id = items.length === 0 ? (gone.at(-1) ?? -1) : pick(random, items).id
  return {
    kind: 'to-one route',
    path: `/api/items/${id}/account`,
    expected: (now) => {
      const item = [...now.items.values()].find((each) => each.id === id)
      const account = item === undefined ? undefined : accountOf(item, now)
      return account === undefined ? { status: 404 } : { status: 200, body: shownAccount(account) }
    },
  }
}
