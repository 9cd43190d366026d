import { escapeFilterValue } from '../../../lib/index.js'
import type { Field, FieldType, JsonValue } from '../../../types/field.js'
import type { Operator } from '../../../types/query.js'
import { type DatabaseName, databaseName } from '../database.js'
import { toWireValue } from './tables.js'

export function order(a: JsonValue, b: JsonValue): number {
  if (a === null || b === null) throw new TypeError('null has no order')
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Column types whose stored values responses may show as null: zero dates on MySQL, infinities and NaN on PostgreSQL. A
 * column of SQLite accepts any value, so on SQLite all types are included that are converted when they are read.
 */
const HIDING: Readonly<Record<DatabaseName, ReadonlySet<FieldType>>> = {
  sqlite: new Set<FieldType>(['datetime', 'date', 'time', 'boolean', 'float', 'decimal']),
  mysql: new Set<FieldType>(['datetime', 'date']),
  mariadb: new Set<FieldType>(['datetime', 'date']),
  postgres: new Set<FieldType>(['datetime', 'date', 'float', 'decimal']),
}

/** Whether a response may show null although the field is NOT NULL. Filters may compare such a field with null. */
export function canBeHidden({ valueType }: Field): boolean {
  return HIDING[databaseName].has(valueType.type)
}

export function isTextOrder({ valueType }: Field, operator: Operator): boolean {
  return valueType.type === 'string' && ['gt', 'gte', 'lt', 'lte'].includes(operator)
}

export function isMatch(operator: Operator, value: JsonValue, operands: readonly JsonValue[]): boolean {
  const [operand = null] = operands
  const text = String(value)
  const part = String(operand)
  switch (operator) {
    case 'ne':
      return value !== operand
    case 'notIn':
      return !operands.includes(value)
    case 'notContains':
      return value === null || !text.includes(part)
    case 'notStartsWith':
      return value === null || !text.startsWith(part)
    case 'notEndsWith':
      return value === null || !text.endsWith(part)
    default:
  }
  if (value === null) return false
  switch (operator) {
    case 'eq':
      return value === operand
    case 'in':
      return operands.includes(value)
    case 'contains':
      return text.includes(part)
    case 'startsWith':
      return text.startsWith(part)
    case 'endsWith':
      return text.endsWith(part)
    case 'gt':
      return order(value, operand) > 0
    case 'gte':
      return order(value, operand) >= 0
    case 'lt':
      return order(value, operand) < 0
    case 'lte':
      return order(value, operand) <= 0
  }
}

/** Operands for comparisons with a value. Substring operators get parts of the value. */
export function operandsOf(
  field: Field,
  operator: Operator,
  value: JsonValue,
  another: JsonValue,
): readonly JsonValue[] {
  if (operator === 'in' || operator === 'notIn') return [value, another].filter((each) => each !== '')
  if (field.valueType.type !== 'string') return [value]
  const letters = [...String(value)]
  switch (operator) {
    case 'contains':
    case 'notContains':
      return [letters.slice(letters.length > 2 ? 1 : 0, 4).join('') || 'a']
    case 'startsWith':
    case 'notStartsWith':
      return [letters.slice(0, 3).join('') || 'a']
    case 'endsWith':
    case 'notEndsWith':
      return [letters.slice(-3).join('') || 'a']
    default:
      return [value]
  }
}

/** Writes a value as filter text. */
export function textOf(field: Field, value: JsonValue): string {
  return escapeFilterValue(toPlainText(field, value))
}

export function toPlainText(field: Field, value: JsonValue): string {
  return String(toWireValue(field, value))
}
