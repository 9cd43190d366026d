// Computes aggregates in memory with exact arithmetic, without a database.

import { below, type Random } from './differential/random.js'

export type Cell = string | number | bigint | boolean | null

/** Type of a field. The type determines how the oracle stores the field's values and how JSON shows them. */
export type Kind = 'text' | 'integer' | 'big' | 'decimal' | 'flag' | 'moment' | 'day'

export interface Row {
  readonly [path: string]: Cell
}

/** Types of fields by path. Decimals are stored as integers of hundredths. */
export const KINDS: Readonly<Record<string, Kind>> = {
  name: 'text',
  level: 'integer',
  big: 'big',
  price: 'decimal',
  active: 'flag',
  at: 'moment',
  day: 'day',
  'team.name': 'text',
  'team.size': 'integer',
}

const PATHS = Object.keys(KINDS)
const NUMBERS: ReadonlySet<Kind> = new Set(['integer', 'big', 'decimal'])
const LENGTHS: Readonly<Record<string, number>> = { year: 4, month: 7, day: 10, hour: 13 }

export interface Measure {
  readonly name: string
  readonly path: string | null
}

export interface Group {
  readonly unit: string | null
  readonly path: string
}

export interface Case {
  readonly groups: readonly Group[]
  readonly measures: readonly Measure[]
  readonly having: { readonly measure: Measure; readonly operator: string; readonly number: number } | null
  readonly sort: readonly { readonly key: string; readonly descending: boolean }[]
  readonly minLevel: number | null
}

export const measureName = ({ name, path }: Measure): string => (path === null ? name : `${name}(${path})`)
export const groupName = ({ unit, path }: Group): string => (unit === null ? path : `${unit}(${path})`)

/** Creates a random aggregate request. */
export function createCase(random: Random): Case {
  const groups = distinct(
    Array.from({ length: below(random, 4) }, () => createGroup(random)),
    ({ path }) => path,
  )
  const measures = distinct(
    Array.from({ length: below(random, 5) + (groups.length === 0 ? 1 : 0) }, () => createMeasure(random)),
    measureName,
  )
  // Databases sort averages of big integers as floating point, so the order of close values differs.
  const keys = [...groups.map(groupName), ...measures.map(measureName)].filter(
    (key) => !isText(key) && key !== 'avg(big)',
  )
  const sort = distinct(
    Array.from({ length: keys.length === 0 ? 0 : below(random, 3) }, () => ({
      key: pick(random, keys),
      descending: below(random, 2) === 0,
    })),
    ({ key }) => key,
  )
  const compared = groups.length > 0 && below(random, 2) === 0
  return {
    groups,
    measures,
    having: compared ? createHaving(random) : null,
    sort,
    minLevel: below(random, 3) === 0 ? below(random, 9) : null,
  }
}

function distinct<T>(all: readonly T[], by: (one: T) => string): readonly T[] {
  return [...new Map(all.map((one) => [by(one), one])).values()]
}

function createGroup(random: Random): Group {
  const path = pick(random, PATHS)
  const kind = KINDS[path]
  if (kind === 'moment') return { path, unit: pick(random, ['year', 'month', 'day', 'hour', null]) }
  return { path, unit: kind === 'day' ? pick(random, ['year', 'month', 'day', null]) : null }
}

function createMeasure(random: Random): Measure {
  const name = pick(random, ['count', 'count', 'distinct', 'sum', 'avg', 'min', 'max'])
  if (name === 'count' && below(random, 2) === 0) return { name, path: null }
  const paths = PATHS.filter((path) => {
    const kind = KINDS[path] ?? 'text'
    if (name === 'count' || name === 'distinct') return true
    return NUMBERS.has(kind) || (name.startsWith('m') && (kind === 'moment' || kind === 'day'))
  })
  return { name, path: pick(random, paths) }
}

function createHaving(random: Random): Case['having'] {
  const measure = pick(random, ['count', 'distinct', 'sum', 'avg', 'min', 'max'])
  const path = pick(random, ['level', 'price', 'team.size'])
  return {
    measure: { name: measure, path: measure === 'count' && below(random, 2) === 0 ? null : path },
    operator: pick(random, ['=', '!=', '>', '>=', '<', '<=']),
    number: below(random, measure === 'count' || measure === 'distinct' ? 6 : 12),
  }
}

function pick<T>(random: Random, choices: readonly T[]): T {
  const one = choices[below(random, choices.length)]
  if (one === undefined) throw new RangeError('there is nothing to choose from')
  return one
}

const isText = (key: string): boolean => KINDS[key] === 'text'

/** A value of the oracle in the form that sorts and comparisons use. */
type Value = string | number | bigint | null

interface Answered {
  readonly item: object
  readonly keys: ReadonlyMap<string, Value>
}

/** Expected groups of a case, in their order. The order of texts is not checked. */
export function expectedGroups(
  rows: readonly Row[],
  { groups, measures, having, sort, minLevel }: Case,
): readonly object[] {
  const matching = rows.filter(({ level }) => minLevel === null || (level !== null && Number(level) >= minLevel))
  const byKey = new Map<string, Row[]>()
  for (const row of matching) {
    const key = JSON.stringify(groups.map((group) => String(toJson(group.path, groupValueOf(row, group)))))
    byKey.set(key, [...(byKey.get(key) ?? []), row])
  }
  const all = groups.length === 0 ? [matching] : [...byKey.values()]
  const answered = all
    .filter((members) => having === null || isMet(having, members))
    .map((members): Answered => {
      const values = new Map<string, Value>()
      const item: object = {}
      for (const group of groups) {
        const [first] = members
        const value = first === undefined ? null : groupValueOf(first, group)
        values.set(groupName(group), sortValueOf(group.path, value))
        setPath(
          item,
          ['group', ...group.path.split('.'), ...(group.unit === null ? [] : [group.unit])],
          toJson(group.path, value),
        )
      }
      for (const measure of measures) {
        const { value, json } = evaluateMeasure(members, measure)
        values.set(measureName(measure), value)
        const member = measure.name === 'count' && measure.path !== null ? 'counts' : measure.name
        setPath(item, [member, ...(measure.path?.split('.') ?? [])], json)
      }
      return { item, keys: values }
    })
  const order = [...sort, ...groups.map((group) => ({ key: groupName(group), descending: false }))]
  return answered
    .toSorted((one, other) => {
      for (const { key, descending } of order) {
        const sign = compare(one.keys.get(key) ?? null, other.keys.get(key) ?? null)
        if (sign !== 0) return descending ? -sign : sign
      }
      return 0
    })
    .map(({ item }) => item)
}

function groupValueOf(row: Row, { path, unit }: Group): Cell {
  const cell = row[path] ?? null
  return unit === null || typeof cell !== 'string' ? cell : cell.slice(0, LENGTHS[unit])
}

function setPath(into: object, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    Reflect.set(into, name, value)
    return
  }
  const inner: object = Reflect.get(into, name) ?? {}
  Reflect.set(into, name, inner)
  setPath(inner, rest, value)
}

function toJson(path: string, cell: Cell): unknown {
  if (typeof cell === 'bigint') return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell.toString()
  return KINDS[path] === 'decimal' && typeof cell === 'number' ? cell / 100 : cell
}

function sortValueOf(path: string, cell: Cell): Value {
  if (typeof cell === 'boolean') return Number(cell)
  // The order of texts depends on the database.
  if (KINDS[path] === 'text' && cell !== null) return 0
  return cell
}

function compare(one: Value, other: Value): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  return one < other ? -1 : one > other ? 1 : 0
}

function evaluateMeasure(
  members: readonly Row[],
  { name, path }: Measure,
): { readonly value: Value; readonly json: unknown } {
  const plain = (value: number): { readonly value: Value; readonly json: unknown } => ({ value, json: value })
  if (path === null) return plain(members.length)
  const cells = members.map((row) => row[path] ?? null).filter((cell) => cell !== null)
  if (name === 'count') return plain(cells.length)
  if (name === 'distinct') return plain(new Set(cells).size)
  if (cells.length === 0) return { value: null, json: null }
  if (name === 'sum' || name === 'avg') {
    const sum = cells.reduce((total: bigint, cell) => total + BigInt(cell), 0n)
    const scale = KINDS[path] === 'decimal' ? 100 : 1
    // The quotient is computed with forty digits. `Number` selects the nearest floating-point number.
    if (name === 'avg') return plain(Number(`${(sum * 10n ** 40n) / BigInt(cells.length * scale)}e-40`))
    const json = scale === 100 ? Number(sum) / 100 : toJson(path, sum)
    return { value: sum, json }
  }
  const sorted = cells.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const cell = (name === 'min' ? sorted[0] : sorted.at(-1)) ?? null
  return { value: sortValueOf(path, cell), json: toJson(path, cell) }
}

function isMet({ measure, operator, number }: NonNullable<Case['having']>, members: readonly Row[]): boolean {
  const { json } = evaluateMeasure(members, measure)
  // A negated comparison is also true for null.
  if (json === null) return operator === '!='
  const sign = Math.sign(Number(json) - number)
  const signs: Readonly<Record<string, readonly number[]>> = {
    '=': [0],
    '!=': [-1, 1],
    '>': [1],
    '>=': [0, 1],
    '<': [-1],
    '<=': [-1, 0],
  }
  return signs[operator]?.includes(sign) ?? false
}
