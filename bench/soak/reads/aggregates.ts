import { MANY, pageOf, pick, type ReadMaker, url } from '../read.js'
import { accountOf, compare, type Item, type State, shownItem, sorted } from '../state.js'

const MEASURES = 'count,count(Note),distinct(Name),sum(Level),avg(Level),min(Level),max(Name)'

function least<T extends string | number>(values: readonly T[], sign: 1 | -1): T | null {
  return [...values].sort((left, right) => sign * compare(left, right))[0] ?? null
}

function measured(items: readonly Item[]): object {
  const levels = items.map(({ level }) => level)
  const names = items.map(({ name }) => name)
  const sum = levels.reduce((all, level) => all + level, 0)
  const isEmpty = items.length === 0
  return {
    count: items.length,
    counts: { note: items.filter(({ note }) => note !== null).length },
    distinct: { name: new Set(names).size },
    sum: { level: isEmpty ? null : sum },
    avg: { level: isEmpty ? null : sum / items.length },
    min: { level: least(levels, 1) },
    max: { name: least(names, -1) },
  }
}

/** Reads the totals of all items, or of items above a level. */
export const totals: ReadMaker = ({ owner }, random) => {
  const above = random(110)
  return {
    kind: 'aggregate',
    path: url('items', { owner, filter: `Level>${above}`, aggregate: MEASURES }),
    expected: ({ items }) => pageOf([measured([...items.values()].filter(({ level }) => level > above))], 1, 20),
  }
}

/** A group key, and the function that returns the key of an item. */
type Grouping = readonly [
  path: string,
  keyOf: (item: Item, state: State) => string | number | null,
  shown: (value: string | number | null) => object,
]

const GROUPINGS: readonly Grouping[] = [
  ['Name', ({ name }) => name, (name) => ({ name })],
  ['Account.Code', (item, state) => accountOf(item, state)?.code ?? null, (code) => ({ account: { code } })],
  ['Account.Rank', (item, state) => accountOf(item, state)?.rank ?? null, (rank) => ({ account: { rank } })],
]

export const groupedItems: ReadMaker = ({ owner }, random) => {
  const [group, keyOf, shown] = pick(random, GROUPINGS)
  const isByCount = random(2) === 0
  const least = random(3) === 0 ? 2 : 1
  const having = least === 1 ? {} : { having: `count>=${least}` }
  const sort = isByCount ? { sort: '-count' } : {}
  return {
    kind: 'groups',
    path: url('items', { owner, group, aggregate: MEASURES, pageSize: MANY, ...having, ...sort }),
    expected: (state) => {
      const groups = new Map<string | number | null, Item[]>()
      for (const item of state.items.values()) {
        const value = keyOf(item, state)
        groups.set(value, [...(groups.get(value) ?? []), item])
      }
      const rows = [...groups]
        .filter(([, items]) => items.length >= least)
        .sort(([left, some], [right, others]) =>
          isByCount && some.length !== others.length ? others.length - some.length : compare(left, right),
        )
      return pageOf(
        rows.map(([value, items]) => ({ group: shown(value), ...measured(items) })),
        1,
        MANY,
      )
    },
  }
}

/** Searches for a word and a part of a word in the three search fields. */
export const searchedItems: ReadMaker = ({ owner }, random) => {
  const words = [pick(random, ['an', 'BERG', 'cos', 'im', 'grace', 'Haas']), String(random(10))]
  return {
    kind: 'search',
    path: url('items', { owner, search: words.join(' '), pageSize: MANY }),
    expected: (state) => {
      const found = [...state.items.values()].filter((item) => {
        const texts = [item.name, item.note ?? '', accountOf(item, state)?.name ?? '']
        return words.every((word) => texts.some((text) => text.toLowerCase().includes(word.toLowerCase())))
      })
      return pageOf(sorted(found).map(shownItem), 1, MANY)
    },
  }
}
