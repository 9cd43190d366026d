import type { Partition } from './partition.js'
import {
  type Account,
  compare,
  type Expected,
  type Item,
  isText,
  type State,
  shownAccount,
  shownItem,
  shownTask,
  sorted,
  tagOf,
} from './state.js'

export type Random = (limit: number) => number

/** A request, and what the answer must be in any state of its owner's records. */
export interface Read {
  readonly kind: string
  readonly path: string
  readonly expected: (state: State) => Expected
}

/** Where a connection goes on to read by cursor. */
export interface Position {
  readonly cursor: string
  readonly after: number
}

type Maker = (partition: Partition, random: Random) => Read

export function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[random(from.length)]
  if (chosen === undefined) throw new RangeError('nothing to pick from')
  return chosen
}

function url(resource: string, parameters: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value))
  return `/api/${resource}?${query}`
}

/** The page by number of what a list has in all. */
function pageOf(all: readonly unknown[], page: number, pageSize: number): Expected {
  const totalPages = Math.ceil(all.length / pageSize)
  return {
    status: 200,
    body: {
      items: all.slice((page - 1) * pageSize, page * pageSize),
      totalCount: all.length,
      page,
      pageSize,
      totalPages,
      hasNextPage: page < totalPages,
      hasPreviousPage: page > 1,
    },
  }
}

const MANY = 1000

/** Everything of an owner in one reply: what ends a doubt. */
export function readAll(resource: keyof State, owner: number): Read {
  return {
    kind: 'settle',
    path: url(resource, { owner, pageSize: MANY }),
    expected: (state) => {
      const rows = {
        accounts: () => sorted(state.accounts.values()).map(shownAccount),
        items: () => sorted(state.items.values()).map(shownItem),
        tasks: () => sorted([...state.tasks.values()].filter(({ deleted }) => !deleted)).map(shownTask),
      }
      return pageOf(rows[resource](), 1, MANY)
    },
  }
}

const itemById: Maker = ({ state, gone }, random) => {
  const ids = [...state.items.values()].flatMap(({ id }) => id ?? [])
  const id = ids.length === 0 || random(10) === 0 ? (gone.at(-1 - random(gone.length || 1)) ?? -1) : pick(random, ids)
  return {
    kind: 'item by id',
    path: `/api/items/${id}`,
    expected: ({ items }) => {
      const item = [...items.values()].find((each) => each.id === id)
      return item === undefined ? { status: 404 } : { status: 200, body: shownItem(item), etag: tagOf(item) }
    },
  }
}

/** Filters of items, and the same in code. */
type ItemFilter = (random: Random) => readonly [filter: string, meets: (item: Item) => boolean]

const ITEM_FILTERS: readonly ItemFilter[] = [
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
    const levels = [1 + random(100), 1 + random(100), 1 + random(100)]
    return [`Level=out=${levels.join(';')}`, ({ level }) => !levels.includes(level)]
  },
]

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] as const

const filteredItems: Maker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'filtered list',
    path: url('items', { owner, filter, pageSize: MANY }),
    expected: ({ items }) => pageOf(sorted([...items.values()].filter(meets)).map(shownItem), 1, MANY),
  }
}

const countedItems: Maker = ({ owner }, random) => {
  const [filter, meets] = pick(random, ITEM_FILTERS)(random)
  return {
    kind: 'count',
    path: url('items', { owner, filter, count: 'true' }),
    expected: ({ items }) => ({ status: 200, body: { count: [...items.values()].filter(meets).length } }),
  }
}

type Keys = (item: Item, state: State) => readonly (string | number | null)[]

/** Sorts, the values that they go by, and for each whether it goes down; the key goes with the last. */
const SORTS: readonly (readonly [sort: string, keys: Keys, down: readonly boolean[]])[] = [
  ['-Level,Name', ({ level, name, id }) => [level, name, id ?? MAX], [true, false, false]],
  ['Name,-Code', ({ name, code, id }) => [name, code, id ?? MAX], [false, true, true]],
  ['Note', ({ note, id }) => [note, id ?? MAX], [false, false]],
  ['-Note,-Level', ({ note, level, id }) => [note, level, id ?? MAX], [true, true, true]],
  [
    'Account.Rank,-Level',
    (item, state) => [accountOf(item, state)?.rank ?? null, item.level, item.id ?? MAX],
    [false, true, true],
  ],
]

const MAX = Number.MAX_SAFE_INTEGER

function accountOf({ accountId }: Item, { accounts }: State): Account | undefined {
  return [...accounts.values()].find(({ id }) => id === accountId)
}

const sortedItems: Maker = ({ owner }, random) => {
  const [sort, keys, down] = pick(random, SORTS)
  const pageSize = 3 + random(12)
  const page = 1 + random(4)
  const ordered = (state: State): Item[] =>
    // By key first, so that new records whose keys are not known yet keep the order of their codes.
    (down.at(-1) ? sorted(state.items.values()).reverse() : sorted(state.items.values())).sort((left, right) => {
      const others = keys(right, state)
      for (const [index, value] of keys(left, state).entries()) {
        const order = compare(value, others[index] ?? null)
        if (order !== 0) return down[index] ? -order : order
      }
      return 0
    })
  return {
    kind: 'sorted page',
    path: url('items', { owner, sort, page, pageSize }),
    expected: (state) => pageOf(ordered(state).map(shownItem), page, pageSize),
  }
}

const selectedItems: Maker = ({ owner }, random) => {
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

const itemsByAccount: Maker = ({ owner }, random) => {
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

const accountsByItems: Maker = ({ owner }, random) => {
  const [filter, meets] = pick(random, QUANTIFIED)(random)
  return {
    kind: 'to-many filter',
    path: url('accounts', { owner, filter }),
    expected: ({ accounts, items }) => {
      const rows = sorted(accounts.values()).filter(({ id }) =>
        meets([...items.values()].filter(({ accountId }) => accountId === id)),
      )
      return pageOf(rows.map(shownAccount), 1, 20)
    },
  }
}

const tasks: Maker = ({ owner }, random) => {
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

/** The kinds of reads, the frequent ones more than once. */
const READS: readonly Maker[] = [
  ...[itemById, itemById, itemById, itemById],
  ...[filteredItems, filteredItems, filteredItems],
  ...[sortedItems, sortedItems],
  ...[countedItems, selectedItems, itemsByAccount, accountsByItems, tasks],
]

export function readOf(partition: Partition, random: Random): Read {
  return pick(random, READS)(partition, random)
}

const CURSOR_PAGE = 7

/** The next page by cursor, or the first. */
export function cursorPage(owner: number, position: Position | null): Read {
  const { cursor, after } = position ?? { cursor: '', after: 0 }
  return {
    kind: 'cursor page',
    path: url('items', { owner, cursor, pageSize: CURSOR_PAGE }),
    expected: ({ items }) => {
      const rest = sorted(items.values()).filter(({ id }) => id === null || id > after)
      const nextCursor = rest.length > CURSOR_PAGE ? isText : null
      return {
        status: 200,
        body: { items: rest.slice(0, CURSOR_PAGE).map(shownItem), nextCursor, pageSize: CURSOR_PAGE },
      }
    },
  }
}

/** Where the page after this one begins. */
export function positionAfter(body: unknown): Position | null {
  const { items, nextCursor }: { items?: unknown; nextCursor?: unknown } = Object(body)
  const { id }: { id?: unknown } = Object(Array.isArray(items) ? items.at(-1) : null)
  return typeof nextCursor === 'string' && typeof id === 'number' ? { cursor: nextCursor, after: id } : null
}
