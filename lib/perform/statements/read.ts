import type { Predicate } from '../../../types/plan.js'
import type { RawRow } from '../../sequelize/run.js'
import type { ReadOptions, RecordReader } from '../executor.js'
import { filterSignature } from '../fullPages.js'
import { deriveTotal } from '../pageTotal.js'
import { DEFAULT_SELECT, type StatementRequest } from '../sql/request.js'
import { appendKeys, columnValues, keyPositions, TOTAL_ALIAS } from '../sql/row.js'
import { createStatement } from '../sql/statement.js'
import type { StatementContext } from '../store.js'
import { fetchRows } from './execute.js'

/** Reads with one SQL statement per call. */
export const statementReader: RecordReader = {
  readOne: async (store, where, columns, within) => {
    const { transaction, isFromPrimary } = within
    const request = createSelect(within, { where, columns, order: NO_VALUES, window: NO_VALUES, keys: 'none' })
    const statement = createStatement(store, request)
    const [row] = await fetchRows(store, {
      statement,
      transaction,
      isOnPrimary: isFromPrimary ?? false,
      isKeyLookup: true,
    })
    return row === undefined ? null : columnValues(row, columns)
  },

  readRows: async (
    store,
    { where, columns, order, limit, offset, keyReading = 'none', isKeyLookup = false },
    within,
  ) => {
    const { transaction, isFromPrimary = false } = within
    const window = offset === undefined ? [limit] : [limit, offset]
    const statement = createStatement(store, createSelect(within, { where, columns, order, window, keys: keyReading }))
    const rows = await fetchRows(store, { statement, transaction, isOnPrimary: isFromPrimary, isKeyLookup })
    if (keyReading === 'none') return rows.map((row) => columnValues(row, columns))
    const positions = keyPositions(store.dialect, { keys: keyReading, columns, order })
    return rows.map((row) => appendKeys(row, columns, positions))
  },

  /**
   * Reads a page and its total. A total in the page's statement repeats the work of the filter, and a page that is not
   * full reveals the total. The statement therefore includes the total only if the filter's last pages were full. If
   * the total is still unknown, a second statement reads it.
   */
  readPage: async (store, { where, order, page, pageSize, projection: { columns }, includeDeleted }) => {
    const offset = (page - 1) * pageSize
    const shape = where === null ? null : filterSignature(where)
    const total = shape === null || store.fullPages.isExpected(shape)
    const request: StatementRequest = {
      ...DEFAULT_SELECT,
      where,
      columns,
      order,
      window: [pageSize, offset],
      includeDeleted,
      total,
    }
    const rows = await fetchRows(store, {
      statement: createStatement(store, request),
      transaction: undefined,
      isOnPrimary: false,
    })
    if (shape !== null) store.fullPages.notePage(shape, rows.length === pageSize)
    const known = deriveTotal(rows.length, offset, pageSize)
    const stated = rows[0]?.[TOTAL_ALIAS]
    const totalCount =
      known ??
      (stated === undefined || stated === null ? await selectRowCount(store, where, includeDeleted) : Number(stated))
    const more = offset + pageSize < totalCount
    return { kind: 'page', rows: rows.map((row) => columnValues(row, columns)), totalCount, hasMore: more }
  },

  readGroups: (store, { where, columns, groups, having, order, includeDeleted }, { limit, offset, total }) => {
    const window = total ? [] : [limit, offset]
    return runRequest(store, {
      kind: 'aggregate',
      where,
      columns,
      groups,
      having,
      order,
      window,
      total,
      includeDeleted,
    })
  },

  countRecords: selectRowCount,
}

const NO_VALUES: readonly never[] = []

type SelectRequest = Extract<StatementRequest, { kind: 'select' }>

/** Builds the request member by member, because copying objects is slow on this frequent path. */
function createSelect(
  { unscoped = false, includeDeleted = false, lock = false }: ReadOptions,
  { where, columns, order, window, keys }: Pick<SelectRequest, 'where' | 'columns' | 'order' | 'window' | 'keys'>,
): SelectRequest {
  return { kind: 'select', where, columns, order, window, total: false, keys, unscoped, includeDeleted, lock }
}

async function selectRowCount(store: StatementContext, where: Predicate | null, deleted: boolean): Promise<number> {
  const [row] = await runRequest(store, { kind: 'count', where, includeDeleted: deleted })
  return Number(row?._ ?? 0)
}

function runRequest(store: StatementContext, request: StatementRequest): Promise<readonly RawRow[]> {
  return fetchRows(store, { statement: createStatement(store, request), transaction: undefined, isOnPrimary: false })
}
