import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import type { Field, Value } from '../../types/field.js'
import type { TableTraits } from '../../types/table.js'
import { stringifyDate } from '../sequelize/dates.js'
import { timestampsOf } from '../sequelize/model.js'
import { isExpression } from '../sequelize/sql.js'
import type { Store } from './store.js'

/** What a record is stored as, in the order of the resource's fields. What is undefined is left to the database. */
export type NewRow = readonly unknown[]

/** Whether a value is one that an INSERT names. */
function isStored({ virtual, assigned, isKey }: Field, value: unknown): boolean {
  // A key that nobody gives is the table's to make: by a default or a trigger.
  return !virtual && value !== undefined && (value !== null || !(assigned || isKey))
}

/** A value as a statement stores it in the field's column. */
export function encodeStored({ dialect, model }: Store, field: Field, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (field.valueType.type === 'json') return JSON.stringify(value)
  if (typeof value === 'boolean') return dialect.boolean(value)
  return value instanceof Date ? stringifyDate(model, field, value) : value
}

/** The time stamps that Sequelize keeps by itself, for writes that do without its instances. */
export function stampsOf({ model }: Store, operation: 'create' | 'update', instant: Date): Map<string, Value> {
  const { createdAt, updatedAt } = timestampsOf(model)
  const stamps = new Map<string, Value>()
  if (operation === 'create' && createdAt !== undefined) stamps.set(createdAt, instant)
  if (updatedAt !== undefined) stamps.set(updatedAt, instant)
  return stamps
}

/**
 * The rows that new instances would be stored as: defaults and setters applied, stamps on. Null where a value is an expression,
 * which only Sequelize can write.
 */
export function insertableRows(store: Store, instances: readonly Model[], instant: Date): readonly NewRow[] | null {
  const stamps = stampsOf(store, 'create', instant)
  const rows: NewRow[] = []
  for (const instance of instances) {
    const row = insertableRow(store, instance, stamps)
    if (row === null) return null
    rows.push(row)
  }
  return rows
}

function insertableRow({ resource: { fields } }: Store, instance: Model, stamps: Changes): NewRow | null {
  const row: unknown[] = []
  for (const field of fields) {
    const given: unknown = field.virtual ? undefined : instance.getDataValue(field.name as never)
    const value = given ?? stamps.get(field.name) ?? given
    const isPart = isStored(field, value)
    if (isPart && isExpression(value)) return null
    row.push(isPart ? value : undefined)
  }
  return row
}

/**
 * The fields of rows that one statement inserts; a row that lacks one gets null. Null where some rows leave a key, or a column that
 * the table fills, to the database and others do not, and where the first row has no field at all.
 */
export function fieldsOf(
  { resource: { fields, filled } }: Store,
  rows: readonly NewRow[],
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
