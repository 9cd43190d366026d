// Expressions for arrays that Sequelize writes incorrectly. Sequelize writes BLOB items as text literals, and fails for
// a null among dates.

import type { Model, ModelStatic } from 'sequelize'
import type { Field, ValueType } from '../../types/field.js'
import { readDateTime } from '../common/values.js'
import { escapeValue, literal } from './sql.js'

/**
 * Converts an array to an expression if Sequelize would write the array incorrectly. Returns other values unchanged.
 */
export function toWritableArray(
  model: ModelStatic<Model>,
  field: Pick<Field, 'name' | 'valueType'>,
  value: unknown,
): unknown {
  const { items } = field.valueType
  if (items === undefined || !Array.isArray(value)) return value
  const type: unknown = model.getAttributes()[field.name]?.type
  if (typeof type !== 'object' || type === null || !('toSql' in type) || typeof type.toSql !== 'function') return value
  return literal(`${arraySql(model, items, value)}::${String(type.toSql())}`)
}

function arraySql(
  model: ModelStatic<Model>,
  items: NonNullable<ValueType['items']>,
  value: readonly unknown[],
): string {
  const written = value.map((item) =>
    Array.isArray(item) ? arraySql(model, items, item) : item === null ? 'NULL' : itemSql(model, items, String(item)),
  )
  return `ARRAY[${written.join(', ')}]`
}

function itemSql(model: ModelStatic<Model>, items: NonNullable<ValueType['items']>, item: string): string {
  switch (items) {
    case 'blob':
      return `decode(${escapeValue(model, item)}, 'base64')`
    case 'datetime':
      return `${escapeValue(model, readDateTime(item)?.toISOString() ?? item)}::timestamptz`
    case 'date':
      return `${escapeValue(model, item)}::date`
  }
}
