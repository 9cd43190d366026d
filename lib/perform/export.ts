import type { Outcome, Row } from '../../types/outcome.js'
import type { Bookmark, BookmarkValue, ExportPlan, Projection } from '../../types/plan.js'
import { BATCH } from '../common/batch.js'
import { mostAtOnce } from '../common/largeColumns.js'
import { left } from '../common/leaving.js'
import { problem } from '../common/problem.js'
import { isTooLarge, ResponseSize } from '../common/responseSize.js'
import { failureOf } from '../sequelize/failure.js'
import { withCollections } from './collections.js'
import { placed, rowsBehind } from './read.js'
import type { Store } from './store.js'

/**
 * Reads all records of a plan page by page. Each page is a separate statement that continues after the last row. A slow
 * client therefore holds neither a connection nor a snapshot.
 * @throws Problem for errors of the first page, including an exceeded export limit
 */
export async function exported(store: Store, plan: ExportPlan): Promise<Outcome> {
  const first = await rowsBehind(store, plan, sizeOf(plan, 0))
  if (first.length > plan.limit) throw exceeded(plan)
  return { kind: 'export', batches: batchesOf(store, plan, first, await firstShown(store, plan.projection, first)) }
}

/** One record more than the limit is read to detect that the limit is exceeded. */
function sizeOf({ limit, projection: { columns } }: ExportPlan, seen: number): number {
  return Math.min(BATCH, mostAtOnce(columns), limit - seen + 1)
}

/** Maximum bytes of collections in memory, except for a single record. */
const AT_ONCE = 16 * 1024 * 1024

interface Shown {
  readonly rows: readonly Row[]
  readonly rest: readonly Row[]
}

/** The first rows with their collections. At least one row, and as many as fit into AT_ONCE. */
async function firstShown(store: Store, projection: Projection, rows: readonly Row[]): Promise<Shown> {
  const { length } = rows
  const size = new ResponseSize(length > 1 ? AT_ONCE : Number.POSITIVE_INFINITY)
  try {
    return { rows: await withCollections(store, projection, rows, size), rest: [] }
  } catch (error) {
    if (length <= 1 || !isTooLarge(error)) throw error
  }
  const half = Math.ceil(length / 2)
  const { rows: shown, rest } = await firstShown(store, projection, rows.slice(0, half))
  return { rows: shown, rest: [...rest, ...rows.slice(half)] }
}

function exceeded({ limit }: ExportPlan): Error {
  return problem('invalid-query', { detail: `An export has at most ${limit} records (exportItems).` })
}

async function* batchesOf(
  store: Store,
  plan: ExportPlan,
  first: readonly Row[],
  firstOnes: Shown,
): AsyncGenerator<readonly Row[], void, undefined> {
  let seen = 0
  let shown = firstOnes
  // The position of the next page is taken from the rows without collections.
  for (let rows = first; ; ) {
    const isLast = rows.length < sizeOf(plan, seen)
    seen += rows.length
    if (seen > plan.limit) throw exceeded(plan)
    if (rows.length > 0) yield shown.rows
    for (let { rest } = shown; rest.length > 0; { rest } = shown) {
      shown = await followed(store, () => firstShown(store, plan.projection, rest))
      yield shown.rows
    }
    const last = rows.at(-1)
    if (isLast || last === undefined) return
    rows = await followed(store, () => {
      const from = bookmarkOf(plan, placed(store, plan, last))
      return rowsBehind(store, { ...plan, from }, sizeOf(plan, seen))
    })
    const read = rows
    shown = await followed(store, () => firstShown(store, plan.projection, read))
  }
}

/**
 * Runs a read while the response is being sent. Errors are translated here, because the error handler has already
 * returned.
 */
async function followed<T>(store: Store, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw failureOf(error, store.dialect) === 'left' ? left() : error
  }
}

function bookmarkOf({ projection }: ExportPlan, row: Row): Bookmark {
  const values = row.slice(projection.columns.length)
  if (values.every(isHeld)) return { inclusive: false, values }
  throw new TypeError('the export cannot continue after this record: a sort key has a binary value')
}

function isHeld(value: unknown): value is BookmarkValue {
  return value !== undefined
}
