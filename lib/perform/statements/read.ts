import type { Predicate } from '../../../types/plan.js'
import type { RawRow } from '../../sequelize/run.js'
import type { Reader, Within } from '../executor.js'
import { shapeOf } from '../fullPages.js'
import { totalOf } from '../pages.js'
import { type Request, SELECT } from '../statement/request.js'
import { keyPlaces, TOTAL, valuesOf, withKeys } from '../statement/row.js'
import { prepare } from '../statement/statement.js'
import type { Store } from '../store.js'
import { rowsOf } from './execute.js'

/** Reads with one SQL statement each. */
export const statementReader: Reader = {
  one: async (store, where, columns, within) => {
    const { transaction, main } = within
    const request = selectIn(within, { where, columns, order: NONE, window: NONE, keys: 'none' })
    const statement = prepare(store, request)
    const [row] = await rowsOf(store, { statement, transaction, writes: main ?? false, isBrief: true })
    return row === undefined ? null : valuesOf(row, columns)
  },

  rows: async (store, { where, columns, order, limit, offset, keys = 'none', isBrief = false }, within) => {
    const { transaction, main = false } = within
    const window = offset === undefined ? [limit] : [limit, offset]
    const statement = prepare(store, selectIn(within, { where, columns, order, window, keys }))
    const rows = await rowsOf(store, { statement, transaction, writes: main, isBrief })
    if (keys === 'none') return rows.map((row) => valuesOf(row, columns))
    const places = keyPlaces(store.dialect, { keys, columns, order })
    return rows.map((row) => withKeys(row, columns, places))
  },

  /**
   * Reads page and total in one statement if that is faster. Counting repeats the work of the filter, and a page that
   * is not full reveals the total. The total is therefore included only if the filter's last pages were full. Otherwise
   * it is read afterwards if needed.
   */
  page: async (store, { where, order, page, pageSize, projection: { columns }, includeDeleted: deleted }) => {
    const offset = (page - 1) * pageSize
    const shape = where === null ? null : shapeOf(where)
    const total = shape === null || store.fullPages.has(shape)
    const request: Request = { ...SELECT, where, columns, order, window: [pageSize, offset], deleted, total }
    const rows = await rowsOf(store, { statement: prepare(store, request), transaction: undefined, writes: false })
    if (shape !== null) store.fullPages.note(shape, rows.length === pageSize)
    const known = totalOf(rows.length, offset, pageSize)
    const stated = rows[0]?.[TOTAL]
    const totalCount =
      known ?? (stated === undefined || stated === null ? await count(store, where, deleted) : Number(stated))
    const more = offset + pageSize < totalCount
    return { kind: 'page', rows: rows.map((row) => valuesOf(row, columns)), totalCount, more }
  },

  aggregate: (store, { where, columns, groups, having, order, includeDeleted: deleted }, { limit, offset, total }) => {
    const window = total ? [] : [limit, offset]
    return run(store, { kind: 'aggregate', where, columns, groups, having, order, window, total, deleted })
  },

  count,
}

const NONE: readonly never[] = []

type Select = Extract<Request, { kind: 'select' }>

/** Written out, because copying objects is slow on this path. */
function selectIn(
  { unscoped = false, deleted = false, lock = false }: Within,
  { where, columns, order, window, keys }: Pick<Select, 'where' | 'columns' | 'order' | 'window' | 'keys'>,
): Select {
  return { kind: 'select', where, columns, order, window, total: false, keys, unscoped, deleted, lock }
}

async function count(store: Store, where: Predicate | null, deleted: boolean): Promise<number> {
  const [row] = await run(store, { kind: 'count', where, deleted })
  return Number(row?._ ?? 0)
}

function run(store: Store, request: Request): Promise<readonly RawRow[]> {
  return rowsOf(store, { statement: prepare(store, request), transaction: undefined, writes: false })
}
