import type { Field } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate } from '../../types/plan.js'
import { columnOf } from '../common/columns.js'
import { isLarge, mostAtOnce } from '../common/largeColumns.js'
import type { ResponseSize } from '../common/responseSize.js'
import { identified, identityName } from './identified.js'

/** The records of one table. */
export interface Source {
  /** Fields that identify a record. */
  readonly identity: readonly Field[]
  /** Reads up to `most` records, in any order. */
  readonly rows: (columns: readonly Column[], where: Predicate, most: number) => Promise<readonly Row[]>
}

/** Large columns of the records at the end of one path. */
interface Group {
  readonly hops: Column['hops']
  readonly columns: Column[]
  /** Positions of these columns among all columns. */
  readonly places: number[]
  readonly identity: readonly Field[]
}

/**
 * Reads rows without their large columns first. Then it reads the large values, once per record and in small batches. A
 * join would repeat a value in each row, and the size would be known only after all rows are in memory.
 * `read` returns the given columns, and may add more values after them. Records that were deleted meanwhile are left
 * out.
 * @throws Problem as soon as the distinct large values exceed the response limit
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
    // A record has one join row per owner, so its identity does not identify the row.
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

/** The large values for a row, null if the row has no record at the path, or undefined if the record is gone. */
type Found = (row: Row) => Row | null | undefined

/** Reads the large values of a group. Each record is read through one of the rows that lead to it. */
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

/** The row in the order of the columns. Empty if its own record was deleted. */
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
  if (at !== near) throw new TypeError('the statement returned unexpected columns')
  return [[...whole, ...row.slice(behind)]]
}

function leadsOver(hops: Column['hops'], path: Column['hops']): boolean {
  return path.every(({ relation }, index) => hops[index]?.relation === relation)
}
