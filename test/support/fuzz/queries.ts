import { chance, oneOf, weighted } from './choose.js'
import { filterText, selectText, sortText } from './filters.js'
import { type Making, someKey } from './making.js'
import { fieldOf } from './paths.js'
import { mayAskForDeleted } from './rights.js'
import type { Table } from './tables.js'
import { queryValue } from './values.js'
import { anyCase, oddNumber, oddText, specialName } from './words.js'

/** The query of a list as it stands in a URL, without its `?`. */
export function listQuery(making: Making, table: Table): string {
  const { random } = making
  const parts: (readonly [name: string, value: string])[] = []
  const add = (share: number, name: string, value: () => string): void => {
    if (chance(random, share)) parts.push([name, value()])
  }
  add(0.6, 'filter', () => filterText(making, table))
  add(0.25, 'sort', () => sortText(making, table))
  add(0.3, 'select', () => selectText(making, table))
  add(0.15, 'page', () => (making.odd(0.3) ? oddNumber(random) : String(1 + Math.floor(random() * 3))))
  add(0.3, 'pageSize', () => (making.odd(0.3) ? oddNumber(random) : String(1 + Math.floor(random() * 100))))
  add(0.15, 'count', () => (making.odd(0.2) ? '1' : oneOf(random, ['true', 'true', 'TRUE', 'false', ''])))
  add(0.12, 'cursor', () => cursorText(making, table))
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
  return [...parts, ...twice].map(([name, value]) => `${encoded(making, name)}=${encoded(making, value)}`).join('&')
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

/** Percent-encoding as clients do it, as little of it as will do, all of it, and some of it broken. */
export function encoded({ random, odd }: Making, text: string): string {
  const bytes = Buffer.from(text.slice(0, 12_000))
  const every = (): string => bytes.toString('hex').replace(/../g, (hex) => `%${hex}`)
  return weighted(random, [
    [14, () => encodeURIComponent(bytes.toString())],
    [3, () => encodeURI(bytes.toString()).replace(/[&#+]/g, encodeURIComponent)],
    [1, () => encodeURIComponent(bytes.toString()).replaceAll('%20', '+')],
    [0.3, every],
    [
      odd(0.5) ? 1 : 0,
      () =>
        encodeURIComponent(bytes.toString()) +
        oneOf(random, ['%', '%2', '%zz', '%u0041', '%C3', '%ED%A0%80', '%00', '%FF']),
    ],
  ])
}
