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
 * All records of a plan, a page at a time, each by a statement of its own from where the last one ended: whoever takes them
 * slowly holds no connection and no snapshot meanwhile.
 *
 * @throws Problem for what is wrong with the first page, a limit that it exceeds included
 */
export async function exported(store: Store, plan: ExportPlan): Promise<Outcome> {
  const first = await rowsBehind(store, plan, sizeOf(plan, 0))
  if (first.length > plan.limit) throw exceeded(plan)
  return { kind: 'export', batches: batchesOf(store, plan, first, await firstShown(store, plan.projection, first)) }
}

/** One record more than the limit leaves tells that there are more. */
function sizeOf({ limit, projection: { columns } }: ExportPlan, seen: number): number {
  return Math.min(BATCH, mostAtOnce(columns), limit - seen + 1)
}

/** Bytes of collections that are in memory at once, but for those of one record alone. */
const AT_ONCE = 16 * 1024 * 1024

interface Shown {
  readonly rows: readonly Row[]
  readonly rest: readonly Row[]
}

/** The first of some rows with their collections: as many as fit into memory, and one at least. */
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
  // Where a page ends is in its rows, and not behind their collections.
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

/** What is read while the answer is being sent: whoever tells errors apart has been passed by then. */
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
  throw new TypeError('a record cannot be gone on from: a key of the order is kept as bytes')
}

function isHeld(value: unknown): value is BookmarkValue {
  return value !== undefined
}
