import { MANY, pageOf, pick, type Random, type ReadMaker, uncountedPageOf, url } from '../read.js'
import {
  accountOf,
  compare,
  type Item,
  itemsOf,
  type State,
  shownAccount,
  shownItem,
  shownTask,
  sorted,
  tagOf,
} from '../state.js'
import { COLORS } from '../writes.js'

export const itemById: ReadMaker = ({ state, gone }, random) => {
  const ids = [...state.items.values()].flatMap(({ id }) => id ?? [])
  const id = ids.length === 0 || random(10) === 0 ? (gone.at(-1 - random(gone.length || 1)) ?? -1) : pick(random, ids)
  return {
    kind: 'item by id',
    path: `/api/items/${id}`,
    expected: ({ items }) => {
      const item = [...items.values()].find((each) => each.id === id)
      return item === undefined
        ? { status: 404 }
        : { status: 200, body: shownItem(item), headers: { etag: tagOf(item) } }
    },
  }
}

/** A filter of items, with a function that tells whether an item meets the filter. */
export type ItemFilter = (random: Random) => readonly [filter: string, meets: (item: Item) => boolean]

export const ITEM_FILTERS: readonly ItemFilter[] = [
  (random) => {
    const level = random(100)
    return [`Level>${level}`, (item) => item.level > level]
  },
  (random) => {
    const level = 60 + random(40)
    return [`(Level>=${level}|Note=null)`, (item) => item.level >= level || item.note === null]
  },
  (random) => {
    const letter = pick(random, LETTERS)
    return [`Name^${letter}`, ({ name }) => name.startsWith(letter)]
  },
  (random) => {
    const letter = pick(random, LETTERS)
    return [`Name!*${letter},Note!=null`, ({ name, note }) => !name.includes(letter) && note !== null]
  },
  (random) => {
    const color = pick(random, COLORS)
    return [`Meta.Color=${color}`, ({ meta }) => meta?.color === color]
  },
  (random) => {
    const size = random(50)
    return [`(Meta.Size>${size}|Meta.Color=null)`, ({ meta }) => meta === null || meta.size > size]
  },
  (random) => {
    const levels = [1 + random(100), 1 + random(100), 1 + random(100)]
    return [`Level=out=${levels.join(';')}`, ({ level }) => !levels.includes(level)]
  },
]

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] as const

export const filteredItems: ReadMaker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'filtered list',
    path: url('items', { owner, filter, pageSize: MANY }),
    expected: ({ items }) => pageOf(sorted([...items.values()].filter(meets)).map(shownItem), 1, MANY),
  }
}

export const countedItems: ReadMaker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'count',
    path: url('items', { owner, filter, count: 'true' }),
    expected: ({ items }) => ({ status: 200, body: { count: [...items.values()].filter(meets).length } }),
  }
}

type Keys = (item: Item, state: State) => readonly (string | number | null)[]

/**
 * Sorts, with the sort values of an item and their directions (`true`: descending). Equal items are sorted by key, in
 * the last direction.
 */
const SORTS: readonly (readonly [sort: string, keys: Keys, down: readonly boolean[]])[] = [
  ['-Level,Name', ({ level, name, id }) => [level, name, id ?? MAX], [true, false, false]],
  ['Name,-Code', ({ name, code, id }) => [name, code, id ?? MAX], [false, true, true]],
  ['Note', ({ note, id }) => [note, id ?? MAX], [false, false]],
  ['-Note,-Level', ({ note, level, id }) => [note, level, id ?? MAX], [true, true, true]],
  ['Meta.Size,-Level', ({ meta, level, id }) => [meta?.size ?? null, level, id ?? MAX], [false, true, true]],
  [
    'Account.Rank,-Level',
    (item, state) => [accountOf(item, state)?.rank ?? null, item.level, item.id ?? MAX],
    [false, true, true],
  ],
]

const MAX = Number.MAX_SAFE_INTEGER

export const sortedItems: ReadMaker = ({ owner }, random) => {
  const isCounted = random(2) === 0
  const [sort, keys, down] = pick(random, SORTS)
  const pageSize = 3 + random(12)
  const page = 1 + random(4)
  const ordered = (state: State): Item[] =>
    // Items are first sorted by key. New records with unknown keys keep the order of their codes.
    (down.at(-1) ? sorted(state.items.values()).reverse() : sorted(state.items.values())).sort((left, right) => {
      const others = keys(right, state)
      for (const [index, value] of keys(left, state).entries()) {
        const order = compare(value, others[index] ?? null)
        if (order !== 0) return down[index] ? -order : order
      }
      return 0
    })
  return {
    kind: isCounted ? 'sorted page' : 'uncounted page',
    path: url('items', { owner, sort, page, pageSize, ...(isCounted ? {} : { count: 'none' }) }),
    expected: (state) => (isCounted ? pageOf : uncountedPageOf)(ordered(state).map(shownItem), page, pageSize),
  }
}

export const selectedItems: ReadMaker = ({ owner }, random) => {
  const pageSize = 5 + random(20)
  return {
    kind: 'select',
    path: url('items', { owner, select: 'Code,Level,Account.Name', pageSize }),
    expected: (state) => {
      const rows = sorted(state.items.values()).map((item) => {
        const { code, level } = item
        return { code, level, account: { name: accountOf(item, state)?.name } }
      })
      return pageOf(rows, 1, pageSize)
    },
  }
}

export const itemsByAccount: ReadMaker = ({ owner }, random) => {
  const rank = random(10)
  return {
    kind: 'to-one filter',
    path: url('items', { owner, filter: `Account.Rank>${rank}`, pageSize: MANY }),
    expected: (state) => {
      const rows = [...state.items.values()].filter((item) => (accountOf(item, state)?.rank ?? -1) > rank)
      return pageOf(sorted(rows).map(shownItem), 1, MANY)
    },
  }
}

type Quantified = (random: Random) => readonly [filter: string, meets: (items: readonly Item[]) => boolean]

const QUANTIFIED: readonly Quantified[] = [
  (random) => {
    const level = 50 + random(50)
    return [`Items.Level>${level}`, (items) => items.some((item) => item.level > level)]
  },
  (random) => {
    const level = 80 + random(20)
    return [`Items.All.Level<${level}`, (items) => items.every((item) => item.level < level)]
  },
  (random) => {
    const number = 1 + random(10)
    return [`Items.Count>=${number}`, (items) => items.length >= number]
  },
  (random) => {
    const level = 40 + random(50)
    const meets = (item: Item): boolean => item.level > level && item.note === null
    return [`Items.Any(Level>${level},Note=null)`, (items) => items.some(meets)]
  },
]

export const accountsByItems: ReadMaker = ({ owner }, random) => {
  const [filter, meets] = pick(random, QUANTIFIED)(random)
  return {
    kind: 'to-many filter',
    path: url('accounts', { owner, filter }),
    expected: (state) => {
      const rows = sorted(state.accounts.values()).filter((account) => meets(itemsOf(account, state)))
      return pageOf(
        rows.map((account) => shownAccount(account)),
        1,
        20,
      )
    },
  }
}

export const tasks: ReadMaker = ({ owner }, random) => {
  const includeDeleted = random(2) === 0
  const isDone = random(2) === 0
  return {
    kind: 'soft-deleted list',
    path: url('tasks', { owner, includeDeleted: String(includeDeleted), done: String(isDone), pageSize: MANY }),
    expected: (state) => {
      const rows = [...state.tasks.values()].filter(
        ({ deleted, done }) => done === isDone && (includeDeleted || !deleted),
      )
      return pageOf(sorted(rows).map(shownTask), 1, MANY)
    },
  }
}
