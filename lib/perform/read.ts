import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Column, CountPlan, GetPlan, KeysetPlan, PagePlan, Predicate } from '../../types/plan.js'
import type { RawRow } from '../sequelize/run.js'
import { rowsOf } from './execute.js'
import { countInstances, findInstances, needsFindAll } from './instances.js'
import { type Request, SELECT } from './statement/outline.js'
import { valuesOf } from './statement/row.js'
import type { Store } from './store.js'

interface Within {
  readonly transaction?: Transaction
  /** Reads a record that was just written, whether or not the model's default scope still shows it. */
  readonly unscoped?: boolean
  /** Whether a record that a paranoid model hides is wanted too. */
  readonly deleted?: boolean
  /** Whether the record is locked until the transaction ends. */
  readonly lock?: boolean
  /** Whether a replica will not do, which may not have heard yet of what was written. */
  readonly main?: boolean
}

/** Runs a read that wants one record; null where there is none. */
export async function get(store: Store, plan: Omit<GetPlan, 'kind'>, within: Within = {}): Promise<Row | null> {
  const { where, projection } = plan
  const { columns } = projection
  const { transaction, unscoped = false, deleted = false, lock = false, main = false } = within
  if (needsFindAll(store, columns)) {
    const parts = { where, columns, order: [], limit: 1, offset: 0, transaction, unscoped, deleted, main }
    const [found] = await findInstances(store, parts)
    return found ?? null
  }
  const request: Request = { ...SELECT, where, columns, unscoped, deleted, lock }
  const [row] = await run(store, request, transaction, main)
  return row === undefined ? null : valuesOf(row, columns)
}

/** Reads records that were just written, by any condition, in no order. */
export async function many(
  store: Store,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
  transaction: Transaction,
  lock = false,
): Promise<readonly Row[]> {
  if (needsFindAll(store, columns)) {
    return findInstances(store, {
      where,
      columns,
      order: [],
      limit,
      offset: 0,
      transaction,
      unscoped: true,
      deleted: false,
    })
  }
  const request: Request = { ...SELECT, where, columns, window: [limit], unscoped: true, lock }
  const rows = await run(store, request, transaction)
  return rows.map((row) => valuesOf(row, columns))
}

/**
 * One page and the number of all records, in one statement where that is not more work than two. Without a total one record
 * more than the page is read, to know whether another follows.
 */
export async function list(store: Store, plan: PagePlan): Promise<Outcome> {
  const { where, order, pageSize, projection, includeDeleted: deleted } = plan
  const { columns } = projection
  const offset = (plan.page - 1) * pageSize
  if (plan.total === 'none') {
    const rows = await windowOf(store, plan, [pageSize + 1, offset])
    return { kind: 'page', rows: rows.slice(0, pageSize), totalCount: null, more: rows.length > pageSize }
  }
  if (needsFindAll(store, columns)) {
    const rows = await findInstances(store, {
      where,
      columns,
      order,
      limit: pageSize,
      offset,
      deleted,
      ...OUTSIDE,
    })
    const known = totalOf(rows.length, offset, pageSize)
    const totalCount = known ?? (await countInstances(store, where, deleted))
    return { kind: 'page', rows, totalCount, more: offset + pageSize < totalCount }
  }
  const rows = await run(store, { ...SELECT, where, columns, order, window: [pageSize, offset], total: true, deleted })
  const known = totalOf(rows.length, offset, pageSize)
  const stated = rows[0]?._total
  const totalCount =
    known ?? (stated === undefined || stated === null ? await countRows(store, where, deleted) : Number(stated))
  const more = offset + pageSize < totalCount
  return { kind: 'page', rows: rows.map((row) => valuesOf(row, columns)), totalCount, more }
}

export async function count(store: Store, { where, includeDeleted }: CountPlan): Promise<Outcome> {
  return { kind: 'count', count: await countRows(store, where, includeDeleted) }
}

/** A page of records by key. One more than the page is read, to know whether another follows. */
export async function keyset(store: Store, plan: KeysetPlan): Promise<Outcome> {
  const { pageSize } = plan
  const rows = await windowOf(store, plan, [pageSize + 1])
  return { kind: 'keyset', rows: rows.slice(0, pageSize), more: rows.length > pageSize }
}

/** The rows of a page, and nothing beside them. */
async function windowOf(
  store: Store,
  plan: PagePlan | KeysetPlan,
  window: readonly [limit: number, offset?: number],
): Promise<readonly Row[]> {
  const { where, order, projection, includeDeleted: deleted } = plan
  const { columns } = projection
  if (needsFindAll(store, columns)) {
    const [limit, offset = 0] = window
    return findInstances(store, { where, columns, order, limit, offset, deleted, ...OUTSIDE })
  }
  const rows = await run(store, { ...SELECT, where, columns, order, window, deleted })
  return rows.map((row) => valuesOf(row, columns))
}

/** Not part of a transaction, and under the model's default scope. */
const OUTSIDE = { transaction: undefined, unscoped: false } as const

async function countRows(store: Store, where: Predicate | null, deleted: boolean): Promise<number> {
  if (needsFindAll(store, [])) return countInstances(store, where, deleted)
  const [row] = await run(store, { kind: 'count', where, deleted })
  return Number(row?._ ?? 0)
}

function run(
  store: Store,
  request: Request,
  transaction?: Transaction | undefined,
  main = false,
): Promise<readonly RawRow[]> {
  return rowsOf(store, { ...store.statements.prepare(store.dialect, request), transaction, writes: main })
}

/** The number of all records, where the page's own length tells it. */
function totalOf(length: number, offset: number, pageSize: number): number | null {
  if (length === pageSize || (length === 0 && offset > 0)) return null
  return offset + length
}
