import type { Outcome, Row } from '../../types/outcome.js'
import type { CursorPosition, CursorValue, ExportPlan, Projection } from '../../types/plan.js'
import { createDisconnectError } from '../common/disconnect.js'
import { EXPORT_BATCH_SIZE } from '../common/exportBatch.js'
import { maxRecordsOf } from '../common/largeColumns.js'
import { problem } from '../common/problem.js'
import { isSizeError, ResponseSize } from '../common/responseSize.js'
import { classifyFailure } from '../sequelize/failure.js'
import { addCollections } from './collections.js'
import { addCursorValues, readRowsAfter } from './read.js'
import type { StatementContext } from './store.js'

/**
 * Reads all records of a plan page by page. Each page is a separate statement that continues after the last row. A slow
 * client therefore holds neither a connection nor a snapshot.
 * @throws Problem for errors of the first page, including an exceeded export limit
 */
export async function exportRecords(store: StatementContext, plan: ExportPlan): Promise<Outcome> {
  const first = await readRowsAfter(store, plan, nextBatchSize(plan, 0))
  if (first.length > plan.limit) throw exportLimitError(plan)
  return {
    kind: 'export',
    batches: readBatches(store, plan, first, await completeFirstRows(store, plan.projection, first)),
  }
}

/** One record more than the limit is read to detect that the limit is exceeded. */
function nextBatchSize({ limit, projection: { columns } }: ExportPlan, seen: number): number {
  return Math.min(EXPORT_BATCH_SIZE, maxRecordsOf(columns), limit - seen + 1)
}

/** Maximum size of the embedded collections in memory, in bytes. A single record may exceed the maximum. */
const MAX_COLLECTION_BYTES = 16 * 1024 * 1024

interface CompletedRows {
  readonly rows: readonly Row[]
  readonly remaining: readonly Row[]
}

/**
 * Adds collections to the first rows: at least one row, and as many as fit into MAX_COLLECTION_BYTES. `remaining` has
 * the other rows.
 */
async function completeFirstRows(
  store: StatementContext,
  projection: Projection,
  rows: readonly Row[],
): Promise<CompletedRows> {
  const { length } = rows
  const size = new ResponseSize(length > 1 ? MAX_COLLECTION_BYTES : Number.POSITIVE_INFINITY)
  try {
    return { rows: await addCollections(store, projection, rows, size), remaining: [] }
  } catch (error) {
    if (length <= 1 || !isSizeError(error)) throw error
  }
  const half = Math.ceil(length / 2)
  const { rows: shown, remaining } = await completeFirstRows(store, projection, rows.slice(0, half))
  return { rows: shown, remaining: [...remaining, ...rows.slice(half)] }
}

function exportLimitError({ limit }: ExportPlan): Error {
  return problem('invalid-query', { detail: `An export has at most ${limit} records (exportItems).` })
}

async function* readBatches(
  store: StatementContext,
  plan: ExportPlan,
  first: readonly Row[],
  firstOnes: CompletedRows,
): AsyncGenerator<readonly Row[], void, undefined> {
  let seen = 0
  let shown = firstOnes
  // The next page starts after the last of `rows`, which have no collections.
  for (let rows = first; ; ) {
    const isLast = rows.length < nextBatchSize(plan, seen)
    seen += rows.length
    if (seen > plan.limit) throw exportLimitError(plan)
    if (rows.length > 0) yield shown.rows
    for (let { remaining } = shown; remaining.length > 0; { remaining } = shown) {
      shown = await readWhileSending(store, () => completeFirstRows(store, plan.projection, remaining))
      yield shown.rows
    }
    const last = rows.at(-1)
    if (isLast || last === undefined) return
    rows = await readWhileSending(store, () => {
      const from = cursorPositionOf(plan, addCursorValues(store, plan, last))
      return readRowsAfter(store, { ...plan, position: from }, nextBatchSize(plan, seen))
    })
    const read = rows
    shown = await readWhileSending(store, () => completeFirstRows(store, plan.projection, read))
  }
}

/**
 * Runs a read while the response is being sent. Translates errors here, because the error handler has already returned.
 */
async function readWhileSending<T>(store: StatementContext, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw classifyFailure(error, store.dialect) === 'disconnected' ? createDisconnectError() : error
  }
}

function cursorPositionOf({ projection }: ExportPlan, row: Row): CursorPosition {
  const values = row.slice(projection.columns.length)
  if (values.every(isCursorValue)) return { inclusive: false, values }
  throw new TypeError('the export cannot continue, because a sort field has a binary value. Sort by other fields')
}

function isCursorValue(value: unknown): value is CursorValue {
  return value !== undefined
}
