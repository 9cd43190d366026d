import type { Outcome, Row } from '../../types/outcome.js'
import type { Bookmark, BookmarkValue, ExportPlan } from '../../types/plan.js'
import { BATCH } from '../common/batch.js'
import { left } from '../common/leaving.js'
import { problem } from '../common/problem.js'
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
  return {
    kind: 'export',
    batches: batchesOf(store, plan, first, await withCollections(store, plan.projection, first)),
  }
}

/** One record more than the limit leaves tells that there are more. */
function sizeOf({ limit }: ExportPlan, seen: number): number {
  return Math.min(BATCH, limit - seen + 1)
}

function exceeded({ limit }: ExportPlan): Error {
  return problem('invalid-query', { detail: `An export has at most ${limit} records (exportItems).` })
}

async function* batchesOf(
  store: Store,
  plan: ExportPlan,
  first: readonly Row[],
  shown: readonly Row[],
): AsyncGenerator<readonly Row[], void, undefined> {
  let seen = 0
  // Where a page ends is in its rows, and not behind their collections.
  let completed = shown
  for (let rows = first; ; ) {
    const isLast = rows.length < sizeOf(plan, seen)
    seen += rows.length
    if (seen > plan.limit) throw exceeded(plan)
    if (rows.length > 0) yield completed
    const last = rows.at(-1)
    if (isLast || last === undefined) return
    try {
      const from = bookmarkOf(plan, placed(store, plan, last))
      rows = await rowsBehind(store, { ...plan, from }, sizeOf(plan, seen))
      completed = await withCollections(store, plan.projection, rows)
    } catch (error) {
      // Whoever tells errors apart has been passed by then.
      throw failureOf(error, store.dialect) === 'left' ? left() : error
    }
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
