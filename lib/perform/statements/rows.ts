import type { Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Projection } from '../../../types/plan.js'
import { writeAmong } from '../statement/among.js'
import { comparedIn } from '../statement/encode.js'
import type { RequestOf } from '../statement/request.js'
import { valuesOf } from '../statement/row.js'
import { prepare, Statement } from '../statement/statement.js'
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
  const encoded = rows.map((row) => columnsOf.map(({ field, at }) => encodeStored(store, field, row[at])))
  const statement = prepare(store, { kind: 'insert', fields, rows: encoded, returning: columns })
  const inserted = await rowsOf(store, executionOf(statement, transaction, true))
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
  const [row] = await rowsOf(store, executionOf(prepare(store, updateOf(store, update, columns)), transaction, true))
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
  const [first, ...others] = updates.map((update) => updateOf(store, update, columns))
  if (first === undefined || items === null) return null
  const values = valuesInOrder(store, first, others)
  if (values === null) return null
  const rows: Row[] = []
  const size = Math.max(2, Math.floor(mostValues / (values[0]?.length ?? 1)))
  for (let start = 0; start < values.length; start += size) {
    const part = values.slice(start, start + size)
    const statement = new Statement(
      store,
      (operands) => writeAmong(store, first, { items, rows: part }, operands),
      false,
    )
    const written = await rowsOf(store, executionOf(statement, transaction, true))
    for (const row of written) rows.push(valuesOf(row, columns))
  }
  return rows
}

/** The number of rows that the database reports, which on MySQL counts only rows that changed. */
export async function updateRows(store: Store, update: RowUpdate, transaction: Transaction): Promise<number> {
  return affectedBy(store, executionOf(prepare(store, updateOf(store, update, [])), transaction, true))
}

export async function deleteRows(store: Store, where: Predicate, transaction: Transaction): Promise<number> {
  return affectedBy(store, executionOf(prepare(store, { kind: 'delete', where }), transaction, true))
}

/** The values of several updates, each in the order in which they are written; null where the updates differ in more than values. */
function valuesInOrder(
  { dialect, model }: Store,
  first: RequestOf<'update'>,
  others: readonly RequestOf<'update'>[],
): readonly (readonly unknown[])[] | null {
  const shape = comparedIn(dialect, model, first.where)
  if (shape === null) return null
  const rows = [[...first.values, ...shape.values]]
  for (const other of others) {
    const own = comparedIn(dialect, model, other.where)
    const isAlike =
      own !== null &&
      isEqual(own.shape, shape.shape) &&
      isEqual(other.fields, first.fields) &&
      isEqual(other.increments, first.increments) &&
      other.deleted === first.deleted
    if (!isAlike) return null
    rows.push([...other.values, ...own.values])
  }
  return rows
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}

function updateOf(
  store: Store,
  { where, values, increments, deleted }: RowUpdate,
  returning: Projection['columns'],
): RequestOf<'update'> {
  const written: Field[] = []
  const stored: unknown[] = []
  for (const field of store.resource.fields) {
    if (field.virtual || !values.has(field.name)) continue
    written.push(field)
    stored.push(encodeStored(store, field, values.get(field.name)))
  }
  return {
    kind: 'update',
    fields: written,
    values: stored,
    increments: increments.length === 0 ? [] : store.resource.fields.filter(({ name }) => increments.includes(name)),
    where,
    deleted,
    returning,
  }
}
