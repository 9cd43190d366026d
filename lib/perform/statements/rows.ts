import type { Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Projection } from '../../../types/plan.js'
import { valuesOf } from '../statement/row.js'
import type { Prepared } from '../statement/statement.js'
import type { Store } from '../store.js'
import { encodeStored, type NewRow } from '../stored.js'
import { affectedBy, executionOf, rowsOf } from './execute.js'

/** Writes that are one statement each, without instances. Their conditions name columns of the one table only. */

/** Rows of these fields, in one statement. */
export async function insertReturning(
  store: Store,
  rows: readonly NewRow[],
  fields: readonly Field[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[]> {
  const columnsOf = fields.map((field) => ({ field, at: store.resource.fields.indexOf(field) }))
  const values: unknown[] = []
  for (const row of rows) for (const { field, at } of columnsOf) values.push(encodeStored(store, field, row[at]))
  const one = { kind: 'insert', fields, values: values.slice(0, fields.length), returning: columns } as const
  const { statement } = store.statements.prepare(store.dialect, one)
  const inserted = await rowsOf(store, {
    statement: statement.times(rows.length),
    values,
    transaction,
    writes: true,
  })
  return inserted.map((row) => valuesOf(row, columns))
}

/** An UPDATE: where, the new values, and the attributes that rise by one. */
export interface RowUpdate {
  readonly where: Predicate
  readonly values: Changes
  readonly increments: readonly string[]
  /** Whether the rows are ones that a paranoid model hides. */
  readonly deleted: boolean
}

/** Returns the updated record; undefined if no record meets the condition. */
export async function updateReturning(
  store: Store,
  update: RowUpdate,
  { columns }: Projection,
  transaction: Transaction,
): Promise<Row | undefined> {
  const [row] = await rowsOf(store, executionOf(preparedUpdate(store, update, columns), transaction, true))
  return row === undefined ? undefined : valuesOf(row, columns)
}

/**
 * Several UPDATEs as one, each with the values of its own; the rows come in no order. Null where they do not differ in values alone,
 * or there is no table of values here.
 */
export async function updateAmong(
  store: Store,
  updates: readonly RowUpdate[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[] | null> {
  const { items, mostValues } = store.dialect
  const prepared = updates.map((update) => preparedUpdate(store, update, columns, true))
  const [first] = prepared
  if (first === undefined || items === null || prepared.some(({ statement }) => statement !== first.statement))
    return null
  const rows: Row[] = []
  const size = Math.max(2, Math.floor(mostValues / first.values.length))
  for (let start = 0; start < prepared.length; start += size) {
    const part = prepared.slice(start, start + size).map(({ values }) => values)
    const written = await rowsOf(store, executionOf(first.statement.among(part, items), transaction, true))
    for (const row of written) rows.push(valuesOf(row, columns))
  }
  return rows
}

/** The number of rows that the database reports, which on MySQL counts only rows that changed. */
export async function updateRows(store: Store, update: RowUpdate, transaction: Transaction): Promise<number> {
  return affectedBy(store, executionOf(preparedUpdate(store, update, []), transaction, true))
}

export async function deleteRows(store: Store, where: Predicate, transaction: Transaction): Promise<number> {
  const prepared = store.statements.prepare(store.dialect, { kind: 'delete', where })
  return affectedBy(store, executionOf(prepared, transaction, true))
}

/** `among` is for several that are made one. */
function preparedUpdate(
  store: Store,
  { where, values, increments, deleted }: RowUpdate,
  returning: Projection['columns'],
  among = false,
): Prepared {
  const written: Field[] = []
  const stored: unknown[] = []
  for (const field of store.resource.fields) {
    if (field.virtual || !values.has(field.name)) continue
    written.push(field)
    stored.push(encodeStored(store, field, values.get(field.name)))
  }
  return store.statements.prepare(store.dialect, {
    kind: 'update',
    fields: written,
    values: stored,
    increments: increments.length === 0 ? [] : store.resource.fields.filter(({ name }) => increments.includes(name)),
    where,
    deleted,
    among,
    returning,
  })
}
