import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type {
  AggregatePlan,
  Column,
  CountPlan,
  GetPlan,
  KeysetPlan,
  PagePlan,
  Predicate,
  SeekPlan,
} from '../../types/plan.js'
import { ownColumn } from '../common/columns.js'
import { type KeyFields, withKeys } from '../common/keys.js'
import { mostAtOnce } from '../common/largeColumns.js'
import { both } from '../common/predicates.js'
import { ResponseSize } from '../common/responseSize.js'
import { hidesRecords } from '../sequelize/model.js'
import type { RawRow } from '../sequelize/run.js'
import { readApart, type Source } from './apart.js'
import { type Executor, type Groups, type Reader, readsBy, type Window, type Within } from './executor.js'
import { instanceReader } from './instances/read.js'
import { totalOf } from './pages.js'
import { type Segment, segmentsOf } from './segments.js'
import { valuesOf } from './statement/row.js'
import { statementReader } from './statements/read.js'
import type { Store } from './store.js'
import { tableOfOne } from './table.js'

const READERS: Readonly<Record<Executor, Reader>> = { statements: statementReader, instances: instanceReader }

function readerOf(store: Store, columns: readonly Column[]): Reader {
  return READERS[readsBy(store, columns)]
}

const ALONE: Within = {}

/** Reads one record, or null if there is none. */
export function get(
  store: Store,
  plan: Pick<GetPlan, 'where' | 'projection'>,
  within: Within = ALONE,
): Promise<Row | null> {
  const { columns } = plan.projection
  const { transaction } = store
  const joined = transaction === undefined || within.transaction !== undefined ? within : { ...within, transaction }
  return readerOf(store, columns).one(store, plan.where, columns, joined)
}

/** Reads records that the model's scope shows, from the primary, in any order. */
export function some(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
): Promise<readonly Row[]> {
  const { transaction } = store
  const within: Within = { main: true, ...(transaction === undefined ? {} : { transaction }) }
  return readerOf(store, columns).rows(store, { where, columns, order: [], limit }, within)
}

/**
 * Like `some`, for a response. Records that are already locked are read in their current state, not in the
 * transaction's snapshot.
 */
export function shownOf(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
): Promise<readonly Row[]> {
  const { transaction, dialect } = store
  const lock = dialect.readsSnapshots && columns.every(({ hops }) => hops.length === 0)
  const within: Within = { main: true, ...(transaction === undefined ? {} : { transaction, lock }) }
  return readerOf(store, columns).rows(store, { where, columns, order: [], limit }, within)
}

/** Reads records that were just written, by any condition, in any order. */
export function many(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  transaction: Transaction,
  lock = false,
): Promise<readonly Row[]> {
  const within: Within = { transaction, unscoped: true, lock }
  return readerOf(store, columns).rows(store, { where, columns, order: [], limit }, within)
}

/**
 * Reads records that were just written, by key, in any order. Large values are read in small batches. `count` receives
 * each batch and may throw to stop.
 */
export async function manyByKey(
  store: Store,
  keys: readonly unknown[],
  columns: readonly Column[],
  transaction: Transaction,
  count: (rows: readonly Row[], at: number) => void,
  only: Predicate | null = null,
): Promise<readonly Row[]> {
  const { keys: fields } = store.resource
  const step = Math.min(keys.length, mostAtOnce(columns))
  const rows: Row[] = []
  for (let at = 0; at < keys.length; at += step) {
    const part = keys.slice(at, at + step)
    const read = await many(store, both(withKeys(fields, part), only), columns, part.length, transaction)
    count(read, at)
    rows.push(...read)
  }
  return rows
}

/** Reads records by any condition, including records that deletion marks or the model's scope hide. In any order. */
export function hidden(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  lock: boolean,
): Promise<readonly Row[]> {
  const joined = store.transaction === undefined ? {} : { transaction: store.transaction, lock }
  const within: Within = { main: true, unscoped: true, deleted: true, ...joined }
  return readerOf(store, columns).rows(store, { where, columns, order: [], limit }, within)
}

/**
 * Reads and locks records until the store's transaction ends, in the order of `by`. The result includes records that
 * PostgreSQL's row level security prevents locking: writing them fails.
 */
export async function locked(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  by: KeyFields = store.resource.keys,
): Promise<readonly Row[]> {
  const order = by.map((key) => ({ column: ownColumn(key), direction: 'asc' }) as const)
  const { transaction } = store
  const { rows } = readerOf(store, columns)
  const window = { where, columns, order, limit }
  if (transaction === undefined) return rows(store, window, { main: true })
  const found = await rows(store, window, { transaction, lock: true, main: true })
  return (await tableOfOne(store)).locksLess ? rows(store, window, { transaction, main: true }) : found
}

/** A page by page number. Without a total, one extra record shows whether another page follows. */
export async function list(store: Store, plan: PagePlan): Promise<Outcome> {
  const { pageSize } = plan
  if (plan.total !== 'none') return countedPage(store, plan)
  const rows = await windowOf(store, plan, { limit: pageSize + 1, offset: (plan.page - 1) * pageSize })
  return { kind: 'page', rows: rows.slice(0, pageSize), totalCount: null, more: rows.length > pageSize }
}

async function countedPage(store: Store, plan: PagePlan): Promise<Outcome> {
  const { projection, pageSize, includeDeleted: deleted } = plan
  const told = { totalCount: null as number | null, more: false }
  const rows = await readApart(
    sourceOf(store, plan.where, { deleted }),
    projection.columns,
    { most: pageSize, size: sizeIn(store) },
    async (columns) => {
      const page = await readerOf(store, columns).page(store, { ...plan, projection: { ...projection, columns } })
      if (page.kind !== 'page') throw new TypeError(`a page was read as a ${page.kind}`)
      Object.assign(told, { totalCount: page.totalCount, more: page.more })
      return page.rows
    },
  )
  return { kind: 'page', rows, ...told }
}

/** The resource's own records under the list's conditions, which a record may have left since it was found. */
function sourceOf(store: Store, condition: Predicate | null, within: Within): Source {
  return {
    identity: store.resource.keys,
    rows: (columns, named, limit) =>
      readerOf(store, columns).rows(store, { where: both(condition, named), columns, order: [], limit }, within),
  }
}

function sizeIn({ resource: { limits } }: Store): ResponseSize {
  return new ResponseSize(limits.responseBytes)
}

/** A page of groups. A page that is not full reveals the total. */
export async function aggregate(store: Store, plan: AggregatePlan): Promise<Outcome> {
  const { pageSize, page, projection } = plan
  const { columns } = projection
  const groups: Groups = { ...plan, columns }
  // The columns are computed by the database, so only the model's hooks and scope choose the reader.
  const reader = readerOf(store, [])
  const offset = (page - 1) * pageSize
  const isCounted = plan.total !== 'none'
  const found = await groupsBehind(store, reader, groups, { limit: isCounted ? pageSize : pageSize + 1, offset })
  const rows = found.slice(0, pageSize).map((row) => valuesOf(row, columns))
  if (!isCounted) return { kind: 'page', rows, totalCount: null, more: found.length > pageSize }
  const totalCount = totalOf(found.length, offset, pageSize) ?? (await numberOf(store, reader, groups))
  return { kind: 'page', rows, totalCount, more: offset + pageSize < totalCount }
}

/**
 * Groups by large values, and large minima and maxima, are read in small batches, so that their size is checked early.
 */
async function groupsBehind(
  store: Store,
  reader: Reader,
  groups: Groups,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): ReturnType<Reader['aggregate']> {
  const step = Math.min(limit, mostAtOnce(groups.columns))
  if (step === limit) return reader.aggregate(store, groups, { limit, offset, total: false })
  const size = sizeIn(store)
  const found: RawRow[] = []
  while (found.length < limit) {
    const some = Math.min(step, limit - found.length)
    const read = await reader.aggregate(store, groups, { limit: some, offset: offset + found.length, total: false })
    size.add(read.map((row) => valuesOf(row, groups.columns)))
    found.push(...read)
    if (read.length < some) break
  }
  return found
}

async function numberOf(store: Store, reader: Reader, groups: Groups): Promise<number> {
  if (groups.groups === 0) return 1
  // Measures and sort order are omitted: the statement must not have parameters for them either.
  const counted: Groups = { ...groups, columns: groups.columns.slice(0, groups.groups), order: [] }
  const [row] = await reader.aggregate(store, counted, { limit: 1, offset: 0, total: true })
  return Number(row?._total ?? 0)
}

export async function count(store: Store, { where, includeDeleted }: CountPlan): Promise<Outcome> {
  return { kind: 'count', count: await readerOf(store, []).count(store, where, includeDeleted) }
}

/** Maximum size of a page that is read as fast as one record. */
const BRIEF_PAGE = 100

/** A page of records after a key. One extra record shows whether another page follows. */
export async function keyset(store: Store, plan: KeysetPlan): Promise<Outcome> {
  const { pageSize, isWhole } = plan
  const isBrief = isWhole && pageSize <= BRIEF_PAGE && !hidesRecords(store.model)
  const rows = await windowOf(store, plan, { limit: pageSize + 1, isBrief })
  return { kind: 'keyset', rows: rows.slice(0, pageSize), more: rows.length > pageSize }
}

/**
 * A page after or before a position in an order. One extra record shows whether another page follows in that direction.
 */
export async function seek(store: Store, plan: SeekPlan): Promise<Outcome> {
  const { pageSize } = plan
  const found = await rowsBehind(store, plan, pageSize + 1)
  const rows = found.slice(0, pageSize)
  if (plan.back) rows.reverse()
  // Cursors exist only for the first and the last row of a page.
  for (const index of new Set([0, rows.length - 1])) {
    const row = rows[index]
    if (row !== undefined) rows[index] = placed(store, plan, row)
  }
  const more = found.length > pageSize
  if (!plan.isCounted || plan.from !== null || plan.back) return { kind: 'seek', rows, more }
  const totalCount = more ? await readerOf(store, []).count(store, plan.where, plan.includeDeleted) : rows.length
  return { kind: 'seek', rows, more, totalCount }
}

type Walked = Pick<SeekPlan, 'where' | 'order' | 'back' | 'from' | 'projection' | 'includeDeleted'>

/** Rows after a cursor, in the direction of the walk. The sort keys' values from the driver are appended. */
export async function rowsBehind(store: Store, plan: Walked, limit: number): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const segment of segmentsOf(plan)) {
    const read = await segmentRows(store, plan, segment, limit - rows.length)
    // Most pages are in one partition, so the first partition's array is returned as it is.
    if (rows.length === 0 && read.length === limit) return read
    rows.push(...read)
    if (rows.length === limit) break
  }
  return rows
}

async function segmentRows(
  store: Store,
  { projection, order, includeDeleted }: Walked,
  { where, order: own }: Segment,
  limit: number,
): Promise<readonly Row[]> {
  const { length } = projection.columns
  const listing = { where, order: own, projection, includeDeleted }
  const quick = await windowOf(store, listing, { limit, keys: 'shared' })
  const { isRead } = store.dialect.keys
  const counted = own.flatMap(({ column }, index) => (isRead(column.field) ? [length + index] : []))
  const isExact = quick.every((row) => counted.every((index) => isCounted(row[index])))
  const read = isExact ? quick : await windowOf(store, listing, { limit, keys: 'exact' })
  const missing = order.length - own.length
  if (missing === 0) return read
  // The null partition has no first sort key: its values are null.
  const nulls = new Array<null>(missing).fill(null)
  return read.map((row) => [...row.slice(0, length), ...nulls, ...row.slice(length)])
}

/** Whether a value is not an integer beyond JavaScript's safe range. */
function isCounted(value: unknown): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value)
}

/** Converts the appended sort key values to the form that cursors store. */
export function placed(store: Store, { projection, order }: Pick<Walked, 'projection' | 'order'>, row: Row): Row {
  const { length } = projection.columns
  const { value } = store.dialect.keys
  return [...row.slice(0, length), ...order.map(({ column }, index) => value(row[length + index], column.field))]
}

type Windowed = Pick<SeekPlan, 'where' | 'order' | 'projection' | 'includeDeleted'>

/** Rows of a page, without counts. */
function windowOf(
  store: Store,
  { where, order, projection, includeDeleted: deleted }: Windowed,
  { limit, offset, keys, isBrief }: Pick<Window, 'limit' | 'offset' | 'keys' | 'isBrief'>,
): Promise<readonly Row[]> {
  const within = { deleted }
  return readApart(
    sourceOf(store, where, within),
    projection.columns,
    { most: limit - 1, size: sizeIn(store) },
    (columns) => readerOf(store, columns).rows(store, { where, columns, order, limit, offset, keys, isBrief }, within),
  )
}
