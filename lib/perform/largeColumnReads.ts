import type { Field } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate } from '../../types/plan.js'
import { columnOf } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { isLargeColumn, maxRecordsOf } from '../common/largeColumns.js'
import type { ResponseSize } from '../common/responseSize.js'
import { buildIdentityPredicate, identityText } from './recordIdentity.js'

/** Access to the records of one table. */
export interface RowSource {
  /** Fields that identify a record. */
  readonly identity: readonly Field[]
  /** Reads up to `most` records, in any order. */
  readonly readRows: (columns: readonly Column[], where: Predicate, most: number) => Promise<readonly Row[]>
}

/** Large columns at the end of one relation path. */
interface LargeColumnGroup {
  readonly joins: Column['joins']
  readonly columns: Column[]
  /** Positions of the large columns among all columns. */
  readonly positions: number[]
  readonly identity: readonly Field[]
}

/**
 * Reads rows without large columns, and afterwards the large values, once per record and in small batches. A join would
 * repeat a large value in each row, and the size would be known only after all rows are in memory.
 * `read` returns the values of the given columns, and may append further values. Records that are deleted between the
 * reads are omitted.
 * @throws Problem as soon as the distinct large values exceed the response limit
 */
export function readLargeColumnsSeparately(
  source: RowSource,
  columns: readonly Column[],
  { most, size }: { readonly most: number; readonly size: ResponseSize },
  read: ReadRows,
): Promise<readonly Row[]> {
  const groups = most <= maxRecordsOf(columns) ? [] : groupLargeColumns(source, columns)
  return groups.length === 0 ? read(columns) : readInGroups(source, columns, groups, size, read)
}

type ReadRows = (columns: readonly Column[]) => Promise<readonly Row[]>

async function readInGroups(
  source: RowSource,
  columns: readonly Column[],
  groups: readonly LargeColumnGroup[],
  size: ResponseSize,
  read: ReadRows,
): Promise<readonly Row[]> {
  const apart = new Set(groups.flatMap(({ positions }) => positions))
  const near = columns.filter((_, place) => !apart.has(place))
  const own = identityColumns([], source.identity)
  const identities = groups.map(({ joins, identity }) => identityColumns(joins, identity))
  const rows = await read([...near, ...own, ...identities.flat()])
  const positionOf = (index: number): number =>
    near.length + own.length + identities.slice(0, index).reduce((sum, { length }) => sum + length, 0)
  const ownIdentityOf: RowSlice = (row) => row.slice(near.length, near.length + own.length)
  const distinct = size.startNew()
  const values: ValueLookup[] = []
  for (const [index, group] of groups.entries()) {
    const identityOf: RowSlice = (row) => row.slice(positionOf(index), positionOf(index + 1))
    values.push(await readGroupValues(source, group, rows, { key: identityOf, ownKeys: ownIdentityOf, size: distinct }))
  }
  const behind = positionOf(groups.length)
  return rows.flatMap((row) => composeRow(columns, groups, values, row, { near: near.length, behind }))
}

type RowSlice = (row: Row) => Row

function groupLargeColumns(source: RowSource, columns: readonly Column[]): readonly LargeColumnGroup[] {
  const groups = new Map<string, LargeColumnGroup>()
  for (const [place, column] of columns.entries()) {
    const { joins } = column
    const identity = joins.length === 0 ? source.identity : (joins.at(-1)?.identity ?? [])
    // A linked record has one join row per parent, so the identity of the record does not identify the join row.
    // Columns of the join row, and columns behind it, are not read separately.
    const isOfLink = joins.some(({ relation }) => relation.manyToMany !== null)
    if (!isLargeColumn(column) || identity.length === 0 || isOfLink) continue
    const path = joins.map(({ relation }) => relation.name).join('.')
    const group = groups.get(path) ?? { joins, columns: [], positions: [], identity }
    group.columns.push(column)
    group.positions.push(place)
    groups.set(path, group)
  }
  return [...groups.values()]
}

function identityColumns(joins: Column['joins'], identity: readonly Field[]): readonly Column[] {
  return identity.map((field) => columnOf(joins, field))
}

/**
 * Returns the large values for a row, null if the row has no record at the path, or undefined if that record was
 * deleted.
 */
type ValueLookup = (row: Row) => Row | null | undefined

/** Reads the large values of a group. A record that several rows refer to is read once. */
async function readGroupValues(
  source: RowSource,
  { joins, columns, identity }: LargeColumnGroup,
  rows: readonly Row[],
  { key, ownKeys, size }: { readonly key: RowSlice; readonly ownKeys: RowSlice; readonly size: ResponseSize },
): Promise<ValueLookup> {
  const identityTextOf = (values: Row): string | null =>
    values.includes(null) || values.includes(undefined) ? null : identityText(identity, values)
  const identityByText = new Map<string, Row>()
  for (const row of rows) {
    const name = identityTextOf(key(row))
    if (name !== null && !identityByText.has(name)) identityByText.set(name, ownKeys(row))
  }
  const found = new Map<string, Row>()
  const read = [...identityColumns(joins, identity), ...columns]
  const identities = [...identityByText.values()]
  const step = maxRecordsOf(columns)
  for (let at = 0; at < identities.length; at += step) {
    const some = identities.slice(at, at + step)
    const given = await source.readRows(read, buildIdentityPredicate(source.identity, some), some.length)
    size.add(given)
    for (const row of given) {
      const name = identityTextOf(row.slice(0, identity.length))
      if (name !== null) found.set(name, row.slice(identity.length))
    }
  }
  return (row) => {
    const name = identityTextOf(key(row))
    return name === null ? null : found.get(name)
  }
}

/**
 * Returns the row with its values in the order of the columns. Returns an empty array if the row's record was deleted.
 */
function composeRow(
  columns: readonly Column[],
  groups: readonly LargeColumnGroup[],
  found: readonly ValueLookup[],
  row: Row,
  { near, behind }: { readonly near: number; readonly behind: number },
): readonly Row[] {
  const whole: unknown[] = new Array(columns.length).fill(null)
  const gone: Column['joins'][] = []
  for (const [index, { positions, joins }] of groups.entries()) {
    const values = found[index]?.(row)
    if (values === undefined) {
      if (joins.length === 0) return []
      gone.push(joins)
    }
    for (const [at, place] of positions.entries()) whole[place] = values?.[at] ?? null
  }
  const apart = new Set(groups.flatMap(({ positions }) => positions))
  let at = 0
  for (const [place, { joins }] of columns.entries()) {
    if (apart.has(place)) continue
    const value = row[at++]
    if (!gone.some((path) => hasPathPrefix(joins, path))) whole[place] = value
  }
  if (at !== near) throw internalError('a statement returned other columns than it selects')
  return [[...whole, ...row.slice(behind)]]
}

function hasPathPrefix(joins: Column['joins'], path: Column['joins']): boolean {
  return path.every(({ relation }, index) => joins[index]?.relation === relation)
}
