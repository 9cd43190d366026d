import type { Model } from 'sequelize'
import type { Field, Value } from '../../types/field.js'
import type { TableTraits } from '../../types/table.js'
import { stringifyDate } from '../sequelize/dates.js'
import { timestampsOf } from '../sequelize/model.js'
import { isExpression } from '../sequelize/sql.js'
import type { StatementContext } from './store.js'

/** Values of a new row in the order of the resource's fields. undefined: the database sets the value. */
export type EncodedRow = readonly unknown[]

/** Whether the INSERT names the field's column. */
function isInserted({ virtual, assigned, isKey }: Field, value: unknown): boolean {
  // A default or trigger of the table generates a missing key.
  return !virtual && value !== undefined && (value !== null || !(assigned || isKey))
}

/** Converts a value to the form that the driver binds: JSON as text, dates in the column's format. */
export function encodeColumn({ dialect, model }: StatementContext, field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (field.valueType.type === 'json') return JSON.stringify(value)
  if (typeof value === 'boolean') return dialect.boolean(value)
  return value instanceof Date ? stringifyDate(model, field, value) : value
}

/**
 * Returns the values of `createdAt` and `updatedAt`. Sequelize sets these timestamps only for writes through instances.
 */
export function timestampValues(
  { model }: StatementContext,
  operation: 'create' | 'update',
  instant: Date,
): Map<string, Value> {
  const { createdAt, updatedAt } = timestampsOf(model)
  const stamps = new Map<string, Value>()
  if (operation === 'create' && createdAt !== undefined) stamps.set(createdAt, instant)
  if (updatedAt !== undefined) stamps.set(updatedAt, instant)
  return stamps
}

/**
 * Builds rows for an INSERT from new instances, after defaults, setters and timestamps. Returns null if a value is an
 * SQL expression, which only Sequelize can write.
 */
export function encodeRows(
  store: StatementContext,
  instances: readonly Model[],
  instant: Date,
): readonly EncodedRow[] | null {
  // All rows have the same timestamps, which are encoded once.
  const stamps = new Map<string, unknown>(timestampValues(store, 'create', instant))
  for (const field of store.resource.fields) {
    if (stamps.has(field.name)) stamps.set(field.name, encodeColumn(store, field, stamps.get(field.name)))
  }
  const rows: EncodedRow[] = []
  for (const instance of instances) {
    const row = encodeRow(store, instance, stamps)
    if (row === null) return null
    rows.push(row)
  }
  return rows
}

function encodeRow(
  { resource: { fields } }: StatementContext,
  instance: Model,
  stamps: ReadonlyMap<string, unknown>,
): EncodedRow | null {
  const row: unknown[] = []
  for (const field of fields) {
    const given: unknown = field.virtual ? undefined : instance.getDataValue(field.name as never)
    const value = given ?? stamps.get(field.name) ?? given
    const isPart = isInserted(field, value)
    if (isPart && isExpression(value)) return null
    row.push(isPart ? value : undefined)
  }
  return row
}

/**
 * Returns the fields that an INSERT of several rows names. A row without a value for a field gets null. Returns null if
 * only some rows have a key or a column with a default, or if the first row has no value.
 */
export function insertedFieldsOf(
  { resource: { fields, filled } }: StatementContext,
  rows: readonly EncodedRow[],
  { hasDefault }: TableTraits,
): readonly Field[] | null {
  const having = fields.map((_, at) => rows.reduce((count, row) => (row[at] === undefined ? count : count + 1), 0))
  const isBroken = fields.some(({ name, isKey, assigned, column }, at) => {
    const isMade = isKey || assigned || filled.includes(name) || hasDefault(column)
    return isMade && having[at] !== 0 && having[at] !== rows.length
  })
  const [first = []] = rows
  if (isBroken || first.every((value) => value === undefined)) return null
  return fields.filter((_, at) => having[at] !== 0)
}
