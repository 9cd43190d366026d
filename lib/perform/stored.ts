import type { Model } from 'sequelize'
import type { Field, Value } from '../../types/field.js'
import { stringifyDate } from '../sequelize/dates.js'
import { timestampsOf } from '../sequelize/model.js'
import { isExpression } from '../sequelize/sql.js'
import type { Store } from './store.js'

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
 * The row that a new instance would be stored as, by field: defaults and setters applied, stamps on. Null where a
 * default is an expression, which only Sequelize can write.
 */
export function insertableRow(store: Store, instance: Model, instant: Date): Map<Field, unknown> | null {
  const stamps = stampsOf(store, 'create', instant)
  const row = new Map<Field, unknown>()
  for (const field of store.resource.fields) {
    if (field.virtual) continue
    const given: unknown = instance.getDataValue(field.name as never)
    const value = given ?? stamps.get(field.name) ?? given
    if (value === undefined || (value === null && field.assigned)) continue
    if (isExpression(value)) return null
    row.set(field, value)
  }
  return row
}
