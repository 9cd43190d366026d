import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Column, CountPlan, GetPlan, KeysetPlan, PagePlan, Predicate } from '../../types/plan.js'
import { type Executor, type Reader, readsBy, type Window, type Within } from './executor.js'
import { instanceReader } from './instances/read.js'
import { statementReader } from './statements/read.js'
import type { Store } from './store.js'

const READERS: Readonly<Record<Executor, Reader>> = { statements: statementReader, instances: instanceReader }

function readerOf(store: Store, columns: readonly Column[]): Reader {
  return READERS[readsBy(store, columns)]
}

const ALONE: Within = {}

/** Runs a read that wants one record; null where there is none. */
export function get(store: Store, plan: Omit<GetPlan, 'kind'>, within: Within = ALONE): Promise<Row | null> {
  const { columns } = plan.projection
  return readerOf(store, columns).one(store, plan.where, columns, within)
}

/** Reads records that were just written, by any condition, in no order. */
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

/** A page by number. Without a total one record more than the page is read, to know whether another follows. */
export async function list(store: Store, plan: PagePlan): Promise<Outcome> {
  const { pageSize } = plan
  if (plan.total !== 'none') return readerOf(store, plan.projection.columns).page(store, plan)
  const rows = await windowOf(store, plan, { limit: pageSize + 1, offset: (plan.page - 1) * pageSize })
  return { kind: 'page', rows: rows.slice(0, pageSize), totalCount: null, more: rows.length > pageSize }
}

export async function count(store: Store, { where, includeDeleted }: CountPlan): Promise<Outcome> {
  return { kind: 'count', count: await readerOf(store, []).count(store, where, includeDeleted) }
}

/** A page of records by key. One more than the page is read, to know whether another follows. */
export async function keyset(store: Store, plan: KeysetPlan): Promise<Outcome> {
  const { pageSize } = plan
  const rows = await windowOf(store, plan, { limit: pageSize + 1 })
  return { kind: 'keyset', rows: rows.slice(0, pageSize), more: rows.length > pageSize }
}

/** The rows of a page, and nothing beside them. */
function windowOf(
  store: Store,
  { where, order, projection: { columns }, includeDeleted: deleted }: PagePlan | KeysetPlan,
  window: Pick<Window, 'limit' | 'offset'>,
): Promise<readonly Row[]> {
  return readerOf(store, columns).rows(store, { where, columns, order, ...window }, { deleted })
}
