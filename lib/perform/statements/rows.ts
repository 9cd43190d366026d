import type { Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Projection, UpdatePlan } from '../../../types/plan.js'
import { conditionOf, isRestore } from '../refusal.js'
import type { RequestOf } from '../statement/request.js'
import { valuesOf } from '../statement/row.js'
import { prepare } from '../statement/statement.js'
import type { Store } from '../store.js'
import { encodeStored, type NewRow, stampsOf } from '../stored.js'
import { affectedBy, rowsOf } from './execute.js'

/** Writes as single SQL statements, without instances. Conditions may use columns of the model's own table only. */

/** Inserts rows with the given fields and returns them. */
export async function insertReturning(
  store: Store,
  rows: readonly NewRow[],
  fields: readonly Field[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[]> {
  const places = fields.map((field) => store.resource.fields.indexOf(field))
  const encoded = rows.map((row) => fields.map((field, index) => encodeStored(store, field, row[places[index] ?? -1])))
  const statement = prepare(store, { kind: 'insert', fields, rows: encoded, returning: columns })
  const inserted = await rowsOf(store, { statement, transaction, writes: true })
  return inserted.map((row) => valuesOf(row, columns))
}

/** An UPDATE: its condition, new values, and attributes to increment by one. */
export interface RowUpdate {
  readonly where: Predicate
  readonly values: Changes
  readonly increments: readonly string[]
  /** Whether the rows are hidden by a paranoid model. */
  readonly deleted: boolean
}

/** The UPDATE of a plan, with Sequelize's timestamps. */
export function rowUpdateOf(store: Store, plan: UpdatePlan): RowUpdate {
  const { changes, upkeep, instant } = plan
  const values = new Map(changes)
  for (const [name, value] of stampsOf(store, 'update', instant)) values.set(name, value)
  for (const [name, value] of upkeep.values) values.set(name, value)
  return { where: conditionOf(plan), values, increments: upkeep.increments, deleted: isRestore(plan) }
}

/** Returns the updated record, or undefined if no record meets the condition. */
export async function updateReturning(
  store: Store,
  update: RowUpdate,
  { columns }: Projection,
  transaction: Transaction,
): Promise<Row | undefined> {
  const [row] = await rowsOf(store, {
    statement: prepare(store, updateOf(store, update, columns)),
    transaction,
    writes: true,
  })
  return row === undefined ? undefined : valuesOf(row, columns)
}

/** Returns the number of rows that the database reports. MySQL counts only rows whose values changed. */
export async function updateRows(store: Store, update: RowUpdate, transaction: Transaction): Promise<number> {
  return affectedBy(store, { statement: prepare(store, updateOf(store, update, [])), transaction, writes: true })
}

export async function deleteRows(store: Store, where: Predicate, transaction: Transaction): Promise<number> {
  return affectedBy(store, { statement: prepare(store, { kind: 'delete', where }), transaction, writes: true })
}

/** The UPDATE with encoded values. */
export function updateOf(
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
