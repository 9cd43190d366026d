// Values that Sequelize writes incorrectly. Sequelize writes BLOB items as text literals, fails for a null among dates,
// and has no JSON for a type that is given as SQL. The drivers of SQLite and MariaDB have no arrays and objects.

import type { Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../types/dialect.js'
import type { Field, ValueType } from '../../types/field.js'
import { readDateTime } from '../common/values.js'
import { attributesWithAccessors } from './model.js'
import { escapeValue, literal } from './sql.js'

/** Whether `toWritable` may change values of the field. A setter of the host gets the value of the body. */
export function isRewritten(
  model: ModelStatic<Model>,
  { hasArrays }: Pick<Dialect, 'hasArrays'>,
  { name, valueType }: Field,
): boolean {
  const { type, set } = attributesWithAccessors(model)[name] ?? {}
  const isOpaque = valueType.type === 'json' && typeof type === 'string' && set === undefined
  return valueType.items !== undefined || (isOpaque && (valueType.document === true || !hasArrays))
}

/**
 * Converts a value to an expression, or to JSON text, if Sequelize or the driver would write the value incorrectly.
 * Returns other values unchanged.
 */
export function toWritable(
  model: ModelStatic<Model>,
  field: Pick<Field, 'name' | 'valueType'>,
  value: unknown,
): unknown {
  const { items, document } = field.valueType
  if (value === null) return null
  if (document === true || (items === undefined && typeof value === 'object')) return JSON.stringify(value)
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
