import type { Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Projection, UpdatePlan } from '../../../types/plan.js'
import { type EncodedRow, encodeColumn, timestampValues } from '../encodedRows.js'
import { fullConditionOf } from '../refusal.js'
import type { StatementRequestOf } from '../sql/request.js'
import { columnValues } from '../sql/row.js'
import { createStatement } from '../sql/statement.js'
import type { StatementContext } from '../store.js'
import { countAffectedRows, fetchRows } from './execute.js'

/** Writes as single SQL statements, without instances. Conditions may use only columns of the model's own table. */

/** Inserts rows with the given fields and returns the stored rows. */
export async function insertReturning(
  store: StatementContext,
  rows: readonly EncodedRow[],
  given: readonly Field[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[]> {
  // An object has columns with names like integers first, and Sequelize writes an INSERT from an object.
  const fields = Object.values(Object.fromEntries(given.map((field) => [field.column, field])))
  const positions = fields.map((field) => store.resource.fields.indexOf(field))
  const encoded = rows.map((row) =>
    fields.map((field, index) => encodeColumn(store, field, row[positions[index] ?? -1])),
  )
  const statement = createStatement(store, { kind: 'insert', fields, rows: encoded, returning: columns })
  const inserted = await fetchRows(store, { statement, transaction, isOnPrimary: true })
  return inserted.map((row) => columnValues(row, columns))
}

/** Condition and new values of an UPDATE, and attributes to increment by one. */
export interface RowUpdate {
  readonly where: Predicate
  readonly values: Changes
  readonly increments: readonly string[]
  /** Whether the UPDATE applies to rows that a paranoid model hides. */
  readonly deleted: boolean
}

/** Converts a plan to an UPDATE, with Sequelize's timestamps. */
export function createRowUpdate(store: StatementContext, plan: UpdatePlan): RowUpdate {
  const { changes, serverValues, instant } = plan
  const values = new Map(changes)
  for (const [name, value] of timestampValues(store, 'update', instant)) values.set(name, value)
  for (const [name, value] of serverValues.values) values.set(name, value)
  return { where: fullConditionOf(plan), values, increments: serverValues.increments, deleted: plan.kind === 'restore' }
}

/** Runs an UPDATE. Returns the updated record, or undefined if no record meets the condition. */
export async function updateReturning(
  store: StatementContext,
  update: RowUpdate,
  { columns }: Projection,
  transaction: Transaction,
): Promise<Row | undefined> {
  const [row] = await fetchRows(store, {
    statement: createStatement(store, createUpdateRequest(store, update, columns)),
    transaction,
    isOnPrimary: true,
  })
  return row === undefined ? undefined : columnValues(row, columns)
}

/**
 * Runs an UPDATE. Returns the number of rows that the database reports. MySQL counts only rows whose values changed.
 */
export async function updateRows(
  store: StatementContext,
  update: RowUpdate,
  transaction: Transaction,
): Promise<number> {
  return countAffectedRows(store, {
    statement: createStatement(store, createUpdateRequest(store, update, [])),
    transaction,
    isOnPrimary: true,
  })
}

export async function deleteRows(store: StatementContext, where: Predicate, transaction: Transaction): Promise<number> {
  return countAffectedRows(store, {
    statement: createStatement(store, { kind: 'delete', where }),
    transaction,
    isOnPrimary: true,
  })
}

/** Builds the request of an UPDATE, with encoded values. */
export function createUpdateRequest(
  store: StatementContext,
  { where, values, increments, deleted }: RowUpdate,
  returning: Projection['columns'],
): StatementRequestOf<'update'> {
  const written: Field[] = []
  const stored: unknown[] = []
  for (const field of store.resource.fields) {
    if (field.virtual || !values.has(field.name)) continue
    written.push(field)
    stored.push(encodeColumn(store, field, values.get(field.name)))
  }
  return {
    kind: 'update',
    fields: written,
    values: stored,
    increments: increments.length === 0 ? [] : store.resource.fields.filter(({ name }) => increments.includes(name)),
    where,
    includeDeleted: deleted,
    returning,
  }
}
