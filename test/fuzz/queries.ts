import { chance, oneOf, several, weighted } from './choose.js'
import { encoded } from './encoded.js'
import { filterText, selectText, sortText } from './filters.js'
import { type Making, someKey } from './making.js'
import { fieldOf, relationsOf } from './paths.js'
import { mayAskForDeleted } from './rights.js'
import { type Table, tableNamed } from './tables.js'
import { queryValue } from './values.js'
import { anyCase, oddNumber, oddText, specialName } from './words.js'

export type Pair = readonly [name: string, value: string]

/**
 * The parameters of a list, or nearly so.
 *
 * @param embeds whether `select` may name collections
 */
export function listQuery(making: Making, table: Table, embeds = true): readonly Pair[] {
  const { random } = making
  const parts: Pair[] = []
  const add = (share: number, name: string, value: () => string): void => {
    if (chance(random, share)) parts.push([name, value()])
  }
  add(0.6, 'filter', () => filterText(making, table))
  add(0.25, 'sort', () => sortText(making, table))
  if (chance(random, 0.35)) parts.push(...(embeds ? selectPairs(making, table) : [selected(making, table)]))
  add(0.15, 'page', () => (making.odd(0.3) ? oddNumber(random) : String(1 + Math.floor(random() * 3))))
  add(0.3, 'pageSize', () => (making.odd(0.3) ? oddNumber(random) : String(1 + Math.floor(random() * 100))))
  add(0.15, 'count', () =>
    making.odd(0.2) ? '1' : oneOf(random, ['true', 'TRUE', 'false', '', 'none', 'none', 'exact']),
  )
  add(0.1, 'cursor', () => cursorText(making, table))
  add(0.1, oneOf(random, ['after', 'after', 'before']), () => cursorText(making, table))
  add(0.08, 'keys', () => keysText(making, table))
  parts.push(...searchPairs(making, table))
  const mayAsk = mayAskForDeleted(table, making.caller)
  add(mayAsk ? 0.25 : 0.02, 'includeDeleted', () =>
    making.odd(0.2) ? 'yes' : oneOf(random, ['true', 'True', 'false']),
  )
  add(0.1, 'sortBy', () => anyCase(random, fieldOf(making, table).name))
  add(0.1, 'sortDirection', () => (making.odd(0.2) ? 'up' : oneOf(random, ['asc', 'desc', 'DESC', ''])))
  if (chance(random, 0.15)) {
    const column = fieldOf(making, table)
    parts.push([anyCase(random, column.name), queryValue(making, table, column)])
  }
  if (making.odd(0.1)) add(1, specialName(random), () => oddText(random))
  const twice = parts.length > 0 && making.odd(0.06) ? [oneOf(random, parts)] : []
  return [...parts, ...twice]
}

/** Parameters as they stand in a URL, without its `?`. */
export function encodedQuery(making: Making, pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${encoded(making, name)}=${encoded(making, value)}`).join('&')
}

function selected(making: Making, table: Table): Pair {
  return ['select', selectText(making, table)]
}

/** What to show, with collections, of which it says what and how many. */
export function selectPairs(making: Making, table: Table): readonly Pair[] {
  const { random } = making
  const found = relationsOf(making, table, ({ many }) => many)
  if (found.length === 0 || chance(random, 0.6)) return [selected(making, table)]
  const { name, to } = oneOf(random, found)
  const target = tableNamed(to)
  const inner = selectText(making, target)
  const form = oneOf(random, [
    `${name}(${inner})`,
    `${name}.*`,
    name,
    `*,${name}(${inner})`,
    `${name}.count`,
    `*,${name}.Count`,
  ])
  const pairs: Pair[] = [['select', `${chance(random, 0.5) ? `${selectText(making, table)},` : ''}${form}`]]
  const isEmbedded = !/\.count$/i.test(form) || making.odd(0.1)
  if (isEmbedded && chance(random, 0.4)) pairs.push([`${name}.filter`, filterText(making, target, 1)])
  if (isEmbedded && chance(random, 0.3)) pairs.push([`${name}.sort`, sortText(making, target)])
  if (isEmbedded && chance(random, 0.4))
    pairs.push([`${name}.limit`, making.odd(0.2) ? oddNumber(random) : String(1 + Math.floor(random() * 20))])
  return pairs
}

/** Keys of records, mostly of ones that are there. */
export function keysText(making: Making, table: Table): string {
  const { random } = making
  const some = (): string => String(making.odd(0.1) ? oddText(random) : someKey(making, table)).replaceAll(',', '\\,')
  return several(random, making.odd(0.1) ? 0 : 1, making.odd(0.05) ? 210 : 6, some).join(oneOf(random, [',', ', ']))
}

export function searchPairs(making: Making, table: Table): readonly Pair[] {
  const { random, odd, seeds } = making
  if (!chance(random, table.search.length === 0 ? 0.01 : 0.12)) return []
  const row = oneOf(random, seeds[table.name])
  const texts = Object.values(row.values).filter((value): value is string => typeof value === 'string')
  const piece = (): string => {
    const text = texts.length === 0 ? 'zq' : oneOf(random, texts)
    const at = Math.floor(random() * text.length)
    return chance(random, 0.5) ? text : text.slice(at, at + 1 + Math.floor(random() * 6))
  }
  const word = (): string =>
    odd(0.2) ? oddText(random).slice(0, 200) : oneOf(random, [piece(), 'zq', 's0', `"${piece()}"`])
  return [['search', several(random, 1, odd(0.05) ? 12 : 2, word).join(' ')]]
}

/** A token as the application makes them, or nearly so. */
function cursorText(making: Making, table: Table): string {
  const { random } = making
  if (!making.odd(0.5)) return ''
  const base = (text: string): string => Buffer.from(text).toString('base64url')
  return weighted(random, [
    [2, () => base(`1.${table.name}.${someKey(making, table)}`)],
    [2, () => base(`1.${table.path}.${someKey(making, table)}`)],
    [1, () => base(JSON.stringify({ v: 1, k: someKey(making, table) }))],
    [1, () => base(oddText(random))],
    [1, () => oddText(random)],
  ])
}
