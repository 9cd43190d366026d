import type { Transaction } from 'sequelize'
import type { Predicate } from '../../../types/plan.js'
import type { RawRow } from '../../sequelize/run.js'
import type { Reader } from '../executor.js'
import { totalOf } from '../pages.js'
import { type Request, SELECT } from '../statement/outline.js'
import { valuesOf } from '../statement/row.js'
import type { Store } from '../store.js'
import { rowsOf } from './execute.js'

/** Reads by one statement each, cached by its shape. */
export const statementReader: Reader = {
  one: async (store, where, columns, within) => {
    const { transaction, unscoped = false, deleted = false, lock = false, main = false } = within
    const request: Request = { ...SELECT, where, columns, unscoped, deleted, lock }
    const [row] = await run(store, request, transaction, main)
    return row === undefined ? null : valuesOf(row, columns)
  },

  rows: async (store, { where, columns, order, limit, offset }, within) => {
    const { transaction, unscoped = false, deleted = false, lock = false, main = false } = within
    const window = offset === undefined ? [limit] : [limit, offset]
    const request: Request = { ...SELECT, where, columns, order, window, unscoped, deleted, lock }
    const rows = await run(store, request, transaction, main)
    return rows.map((row) => valuesOf(row, columns))
  },

  // Both in one statement where that is not more work than two.
  page: async (store, { where, order, page, pageSize, projection: { columns }, includeDeleted: deleted }) => {
    const offset = (page - 1) * pageSize
    const rows = await run(store, {
      ...SELECT,
      where,
      columns,
      order,
      window: [pageSize, offset],
      total: true,
      deleted,
    })
    const known = totalOf(rows.length, offset, pageSize)
    const stated = rows[0]?._total
    const totalCount =
      known ?? (stated === undefined || stated === null ? await count(store, where, deleted) : Number(stated))
    const more = offset + pageSize < totalCount
    return { kind: 'page', rows: rows.map((row) => valuesOf(row, columns)), totalCount, more }
  },

  count,
}

async function count(store: Store, where: Predicate | null, deleted: boolean): Promise<number> {
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
