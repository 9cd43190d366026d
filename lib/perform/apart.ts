import type { Field } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate } from '../../types/plan.js'
import { columnOf } from '../common/columns.js'
import { isLarge, mostAtOnce } from '../common/largeColumns.js'
import type { ResponseSize } from '../common/responseSize.js'
import { identified, identityName } from './identified.js'

/** Records of one table. */
export interface Source {
  /** Tells its records apart. */
  readonly identity: readonly Field[]
  /** Reads some of its records, in no order. */
  readonly rows: (columns: readonly Column[], where: Predicate, most: number) => Promise<readonly Row[]>
}

/** Large columns of the records at the end of one path. */
interface Group {
  readonly hops: Column['hops']
  readonly columns: Column[]
  /** Where these stand among all columns. */
  readonly places: number[]
  readonly identity: readonly Field[]
}

/**
 * Reads rows of many records without their large columns, and then these, of each record once and of some records at a time: a
 * join would repeat the same value in each row, and rows of any size would be in memory before their size is known.
 *
 * `read` gives rows of the columns that it is handed, with whatever else behind them. A record that has gone meanwhile is left out.
 *
 * @throws Problem as soon as the large values, each counted once, are more than an answer may have
 */
export async function readApart(
  source: Source,
  columns: readonly Column[],
  { most, size }: { readonly most: number; readonly size: ResponseSize },
  read: (near: readonly Column[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const groups = most <= mostAtOnce(columns) ? [] : groupsOf(source, columns)
  if (groups.length === 0) return read(columns)
  const apart = new Set(groups.flatMap(({ places }) => places))
  const near = columns.filter((_, place) => !apart.has(place))
  const own = identityColumns([], source.identity)
  const identities = groups.map(({ hops, identity }) => identityColumns(hops, identity))
  const rows = await read([...near, ...own, ...identities.flat()])
  const placeOf = (index: number): number =>
    near.length + own.length + identities.slice(0, index).reduce((sum, { length }) => sum + length, 0)
  const ownKeys: Slice = (row) => row.slice(near.length, near.length + own.length)
  const distinct = size.another()
  const values: Found[] = []
  for (const [index, group] of groups.entries()) {
    const key: Slice = (row) => row.slice(placeOf(index), placeOf(index + 1))
    values.push(await valuesOf(source, group, rows, { key, ownKeys, size: distinct }))
  }
  const behind = placeOf(groups.length)
  return rows.flatMap((row) => composed(columns, groups, values, row, { near: near.length, behind }))
}

type Slice = (row: Row) => Row

function groupsOf(source: Source, columns: readonly Column[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const [place, column] of columns.entries()) {
    const { hops } = column
    const identity = hops.length === 0 ? source.identity : (hops.at(-1)?.identity ?? [])
    // A record has as many rows that link it as it has owners.
    const isOfLink = hops.some(({ relation }) => relation.between !== null)
    if (!isLarge(column) || identity.length === 0 || isOfLink) continue
    const path = hops.map(({ relation }) => relation.name).join('.')
    const group = groups.get(path) ?? { hops, columns: [], places: [], identity }
    group.columns.push(column)
    group.places.push(place)
    groups.set(path, group)
  }
  return [...groups.values()]
}

function identityColumns(hops: Column['hops'], identity: readonly Field[]): readonly Column[] {
  return identity.map((field) => columnOf(hops, field))
}

/** The name of a record in a row, and its values; null where the row leads to no record. */
type Found = (row: Row) => Row | null | undefined

/** The large values of a group. Each record is read by one of the rows that lead to it. */
async function valuesOf(
  source: Source,
  { hops, columns, identity }: Group,
  rows: readonly Row[],
  { key, ownKeys, size }: { readonly key: Slice; readonly ownKeys: Slice; readonly size: ResponseSize },
): Promise<Found> {
  const named = (values: Row): string | null =>
    values.includes(null) || values.includes(undefined) ? null : identityName(identity, values)
  const wanted = new Map<string, Row>()
  for (const row of rows) {
    const name = named(key(row))
    if (name !== null && !wanted.has(name)) wanted.set(name, ownKeys(row))
  }
  const found = new Map<string, Row>()
  const read = [...identityColumns(hops, identity), ...columns]
  const owners = [...wanted.values()]
  const step = mostAtOnce(columns)
  for (let at = 0; at < owners.length; at += step) {
    const some = owners.slice(at, at + step)
    const given = await source.rows(read, identified(source.identity, some), some.length)
    size.add(given)
    for (const row of given) {
      const name = named(row.slice(0, identity.length))
      if (name !== null) found.set(name, row.slice(identity.length))
    }
  }
  return (row) => {
    const name = named(key(row))
    return name === null ? null : found.get(name)
  }
}

/** A row as one statement would have given it; none where its own record has gone. */
function composed(
  columns: readonly Column[],
  groups: readonly Group[],
  found: readonly Found[],
  row: Row,
  { near, behind }: { readonly near: number; readonly behind: number },
): readonly Row[] {
  const whole: unknown[] = new Array(columns.length).fill(null)
  const gone: Column['hops'][] = []
  for (const [index, { places, hops }] of groups.entries()) {
    const values = found[index]?.(row)
    if (values === undefined) {
      if (hops.length === 0) return []
      gone.push(hops)
    }
    for (const [at, place] of places.entries()) whole[place] = values?.[at] ?? null
  }
  const apart = new Set(groups.flatMap(({ places }) => places))
  let at = 0
  for (const [place, { hops }] of columns.entries()) {
    if (apart.has(place)) continue
    const value = row[at++]
    if (!gone.some((path) => leadsOver(hops, path))) whole[place] = value
  }
  if (at !== near) throw new TypeError('columns were read that nobody asked for')
  return [[...whole, ...row.slice(behind)]]
}

function leadsOver(hops: Column['hops'], path: Column['hops']): boolean {
  return path.every(({ relation }, index) => hops[index]?.relation === relation)
}
