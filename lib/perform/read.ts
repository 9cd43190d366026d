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
import { type KeyFields, matchKeys } from '../common/keys.js'
import { maxRecordsOf } from '../common/largeColumns.js'
import { addCondition } from '../common/predicates.js'
import { ResponseSize } from '../common/responseSize.js'
import { hasHiddenRecords } from '../sequelize/model.js'
import type { RawRow } from '../sequelize/run.js'
import {
  chooseReadExecutor,
  type Executor,
  type GroupSelect,
  type ReadOptions,
  type RecordReader,
  type RowWindow,
} from './executor.js'
import { oversizedScopeError } from './failure.js'
import { instanceReader } from './instances/read.js'
import { type RowSource, readLargeColumnsSeparately } from './largeColumnReads.js'
import { type NullPartition, partitionByNulls } from './nullPartitions.js'
import { deriveTotal } from './pageTotal.js'
import { columnValues } from './sql/row.js'
import { statementReader } from './statements/read.js'
import type { StatementContext } from './store.js'
import { loadTraitsForRecord } from './tableTraits.js'

const READERS: Readonly<Record<Executor, RecordReader>> = { statements: statementReader, instances: instanceReader }

function readerOf(store: StatementContext, columns: readonly Column[]): RecordReader {
  return READERS[chooseReadExecutor(store, columns)]
}

const DEFAULT_OPTIONS: ReadOptions = {}

/** Reads one record. Returns null if no record meets the condition. */
export function readRecord(
  store: StatementContext,
  plan: Pick<GetPlan, 'where' | 'projection'>,
  within: ReadOptions = DEFAULT_OPTIONS,
): Promise<Row | null> {
  const { columns } = plan.projection
  const { transaction } = store
  const joined = transaction === undefined || within.transaction !== undefined ? within : { ...within, transaction }
  return readerOf(store, columns).readOne(store, plan.where, columns, joined)
}

/** Reads records that the model's scope shows, from the primary, in any order. */
export function readVisible(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
): Promise<readonly Row[]> {
  const { transaction } = store
  const within: ReadOptions = { isFromPrimary: true, ...(transaction === undefined ? {} : { transaction }) }
  return readConditionally(store, { where, columns, order: [], limit }, within)
}

/** Reads records. If the read fails because of a scope, the error does not belong to the plan of the request. */
async function readConditionally(
  store: StatementContext,
  window: RowWindow & { readonly where: Predicate },
  within: ReadOptions,
): Promise<readonly Row[]> {
  try {
    return await readerOf(store, window.columns).readRows(store, window, within)
  } catch (error) {
    throw oversizedScopeError(error, store.resource, window) ?? error
  }
}

/**
 * Reads records that the model's scope shows, for the response of an action. In a transaction with a snapshot, locks
 * the records to read their current values. Records are not locked if a column belongs to another table.
 */
export function readVisibleAsLocked(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
): Promise<readonly Row[]> {
  const { transaction } = store
  const lock = store.dialect.readsSnapshots && columns.every(({ joins }) => joins.length === 0)
  const within: ReadOptions = transaction === undefined ? {} : { transaction, lock }
  return readConditionally(store, { where, columns, order: [], limit }, within)
}

/** Reads records that were just written, by any condition, in any order. */
export function readWritten(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  transaction: Transaction,
  lock = false,
): Promise<readonly Row[]> {
  const within: ReadOptions = { transaction, unscoped: true, lock }
  return readerOf(store, columns).readRows(store, { where, columns, order: [], limit }, within)
}

/**
 * Reads records that were just written, by key, in any order. Large values are read in small batches. `count` receives
 * each batch and may throw to stop.
 */
export async function readWrittenByKey(
  store: StatementContext,
  keys: readonly unknown[],
  columns: readonly Column[],
  transaction: Transaction,
  count: (rows: readonly Row[], at: number) => void,
  only: Predicate | null = null,
): Promise<readonly Row[]> {
  const { keys: fields } = store.resource
  const step = Math.min(keys.length, maxRecordsOf(columns))
  const rows: Row[] = []
  for (let at = 0; at < keys.length; at += step) {
    const part = keys.slice(at, at + step)
    const read = await readWritten(
      store,
      addCondition(matchKeys(fields, part), only),
      columns,
      part.length,
      transaction,
    )
    count(read, at)
    rows.push(...read)
  }
  return rows
}

/** Reads records in any order, including records that deletion marks or the model's scope hide. */
export function readUnscoped(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  lock: boolean,
): Promise<readonly Row[]> {
  const joined = store.transaction === undefined ? {} : { transaction: store.transaction, lock }
  const within: ReadOptions = { isFromPrimary: true, unscoped: true, includeDeleted: true, ...joined }
  return readerOf(store, columns).readRows(store, { where, columns, order: [], limit }, within)
}

/**
 * Reads records in the order of `by`, and locks them until the transaction ends. On PostgreSQL, row level security can
 * hide records from a read with locks. The records of such a table are read again without locks. A later write of a
 * record without a lock fails.
 */
export async function readLocked(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  by: KeyFields = store.resource.keys,
): Promise<readonly Row[]> {
  const order = by.map((key) => ({ column: ownColumn(key), direction: 'asc' }) as const)
  const { transaction } = store
  const window = { where, columns, order, limit }
  if (transaction === undefined) return readConditionally(store, window, { isFromPrimary: true })
  const found = await readConditionally(store, window, { transaction, lock: true, isFromPrimary: true })
  return (await loadTraitsForRecord(store)).canSkipLocks
    ? readConditionally(store, window, { transaction, isFromPrimary: true })
    : found
}

/** Reads a page by page number. Without a total, one extra record shows whether another page follows. */
export async function selectPage(store: StatementContext, plan: PagePlan): Promise<Outcome> {
  const { projection, pageSize, includeDeleted } = plan
  if (plan.total === 'none') {
    const rows = await readWindow(store, plan, { limit: pageSize + 1, offset: (plan.page - 1) * pageSize })
    return { kind: 'page', rows: rows.slice(0, pageSize), totalCount: null, hasMore: rows.length > pageSize }
  }
  const result = { totalCount: null as number | null, hasMore: false }
  const rows = await readLargeColumnsSeparately(
    createRowSource(store, plan.where, { includeDeleted }),
    projection.columns,
    { most: pageSize, size: createResponseSize(store) },
    async (columns) => {
      const page = await readerOf(store, columns).readPage(store, { ...plan, projection: { ...projection, columns } })
      Object.assign(result, { totalCount: page.totalCount, hasMore: page.hasMore })
      return page.rows
    },
  )
  return { kind: 'page', rows, ...result }
}

/**
 * Creates the source from which large columns are read after the other columns. The source repeats the list's
 * conditions, because a record may have changed between the two reads.
 */
function createRowSource(store: StatementContext, condition: Predicate | null, within: ReadOptions): RowSource {
  return {
    identity: store.resource.keys,
    readRows: (columns, named, limit) =>
      readerOf(store, columns).readRows(
        store,
        { where: addCondition(condition, named), columns, order: [], limit },
        within,
      ),
  }
}

function createResponseSize({ resource: { limits } }: StatementContext): ResponseSize {
  return new ResponseSize(limits.responseBytes)
}

/** Reads a page of groups. A page that is not full reveals the total. */
export async function selectGroups(store: StatementContext, plan: AggregatePlan): Promise<Outcome> {
  const { pageSize, page, projection } = plan
  const { columns } = projection
  const groups: GroupSelect = { ...plan, columns }
  // The database computes the columns, so the choice of the reader depends only on the model's hooks and scope.
  const reader = readerOf(store, [])
  const offset = (page - 1) * pageSize
  const isCounted = plan.total !== 'none'
  const found = await selectGroupsInParts(store, reader, groups, { limit: isCounted ? pageSize : pageSize + 1, offset })
  const rows = found.slice(0, pageSize).map((row) => columnValues(row, columns))
  if (!isCounted) return { kind: 'page', rows, totalCount: null, hasMore: found.length > pageSize }
  const totalCount = deriveTotal(found.length, offset, pageSize) ?? (await countGroups(store, reader, groups))
  return { kind: 'page', rows, totalCount, hasMore: offset + pageSize < totalCount }
}

/** Reads groups with large values in small batches, so that their size is checked early. */
async function selectGroupsInParts(
  store: StatementContext,
  reader: RecordReader,
  groups: GroupSelect,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): ReturnType<RecordReader['readGroups']> {
  const step = Math.min(limit, maxRecordsOf(groups.columns))
  if (step === limit) return reader.readGroups(store, groups, { limit, offset, total: false })
  const size = createResponseSize(store)
  const found: RawRow[] = []
  while (found.length < limit) {
    const some = Math.min(step, limit - found.length)
    const read = await reader.readGroups(store, groups, { limit: some, offset: offset + found.length, total: false })
    size.add(read.map((row) => columnValues(row, groups.columns)))
    found.push(...read)
    if (read.length < some) break
  }
  return found
}

async function countGroups(store: StatementContext, reader: RecordReader, groups: GroupSelect): Promise<number> {
  if (groups.groups === 0) return 1
  // Measures and the sort order do not change the number of groups.
  const counted: GroupSelect = { ...groups, columns: groups.columns.slice(0, groups.groups), order: [] }
  const [row] = await reader.readGroups(store, counted, { limit: 1, offset: 0, total: true })
  return Number(row?._total ?? 0)
}

export async function selectCount(store: StatementContext, { where, includeDeleted }: CountPlan): Promise<Outcome> {
  return { kind: 'count', count: await readerOf(store, []).countRecords(store, where, includeDeleted) }
}

/** Largest page that counts as a small read. Up to eight small reads are given to SQLite at once. */
const SHORT_PAGE = 100

/** Reads a page of records after a key. One extra record shows whether another page follows. */
export async function selectKeysetPage(store: StatementContext, plan: KeysetPlan): Promise<Outcome> {
  const { pageSize, isKeysetOnly } = plan
  const isBrief = isKeysetOnly && pageSize <= SHORT_PAGE && !hasHiddenRecords(store.model)
  const rows = await readWindow(store, plan, { limit: pageSize + 1, isKeyLookup: isBrief })
  return { kind: 'keyset', rows: rows.slice(0, pageSize), hasMore: rows.length > pageSize }
}

/**
 * Reads a page after or before a position in an order. One extra record shows whether another page follows in that
 * direction.
 */
export async function selectSeekPage(store: StatementContext, plan: SeekPlan): Promise<Outcome> {
  const { pageSize } = plan
  const found = await readRowsAfter(store, plan, pageSize + 1)
  const rows = found.slice(0, pageSize)
  if (plan.isBackward) rows.reverse()
  // Cursors exist only for the first and the last row of a page.
  for (const index of new Set([0, rows.length - 1])) {
    const row = rows[index]
    if (row !== undefined) rows[index] = addCursorValues(store, plan, row)
  }
  const more = found.length > pageSize
  if (!plan.isCounted || plan.position !== null || plan.isBackward) return { kind: 'seek', rows, hasMore: more }
  const totalCount = more ? await readerOf(store, []).countRecords(store, plan.where, plan.includeDeleted) : rows.length
  return { kind: 'seek', rows, hasMore: more, totalCount }
}

type SeekRequest = Pick<SeekPlan, 'where' | 'order' | 'isBackward' | 'position' | 'projection' | 'includeDeleted'>

/**
 * Reads the rows after a cursor, in the direction of the page. Appends the values of the sort keys to each row, as the
 * driver returns them.
 */
export async function readRowsAfter(
  store: StatementContext,
  plan: SeekRequest,
  limit: number,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const segment of partitionByNulls(plan)) {
    const read = await readPartition(store, plan, segment, limit - rows.length)
    // If the first partition fills the page, its array is returned without a copy. Most pages are in one partition.
    if (rows.length === 0 && read.length === limit) return read
    rows.push(...read)
    if (rows.length === limit) break
  }
  return rows
}

async function readPartition(
  store: StatementContext,
  { projection, order, includeDeleted }: SeekRequest,
  { where, order: own }: NullPartition,
  limit: number,
): Promise<readonly Row[]> {
  const { length } = projection.columns
  const listing = { where, order: own, projection, includeDeleted }
  const quick = await readWindow(store, listing, { limit, keyReading: 'shared' })
  const { isExact: isRead } = store.dialect.orderKeys
  const counted = own.flatMap(({ column }, index) => (isRead(column.field) ? [length + index] : []))
  const isExact = counted.every((index) => quick.every((row) => isSafeNumber(row[index])))
  const read = isExact ? quick : await readWindow(store, listing, { limit, keyReading: 'exact' })
  const missing = order.length - own.length
  if (missing === 0) return read
  // All values of the first sort key are null in the null partition, so the statement does not read them.
  const nulls = new Array<null>(missing).fill(null)
  return read.map((row) => [...row.slice(0, length), ...nulls, ...row.slice(length)])
}

/** Returns false only for integers that JavaScript cannot represent exactly. */
function isSafeNumber(value: unknown): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value)
}

/** Converts the appended sort key values to the form that cursors store. */
export function addCursorValues(
  store: StatementContext,
  { projection, order }: Pick<SeekRequest, 'projection' | 'order'>,
  row: Row,
): Row {
  const { length } = projection.columns
  const { toCursorValue } = store.dialect.orderKeys
  return [
    ...row.slice(0, length),
    ...order.map(({ column }, index) => toCursorValue(row[length + index], column.field)),
  ]
}

type WindowedPlan = Pick<SeekPlan, 'where' | 'order' | 'projection' | 'includeDeleted'>

/** Reads the rows of a page, without counts. */
function readWindow(
  store: StatementContext,
  { where, order, projection, includeDeleted }: WindowedPlan,
  { limit, offset, keyReading, isKeyLookup }: Pick<RowWindow, 'limit' | 'offset' | 'keyReading' | 'isKeyLookup'>,
): Promise<readonly Row[]> {
  const within = { includeDeleted }
  return readLargeColumnsSeparately(
    createRowSource(store, where, within),
    projection.columns,
    { most: limit - 1, size: createResponseSize(store) },
    (columns) =>
      readerOf(store, columns).readRows(
        store,
        { where, columns, order, limit, offset, keyReading, isKeyLookup },
        within,
      ),
  )
}
