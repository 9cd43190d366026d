// Order and JSON of values by the specification, independent of lib/.

import type { Column, Kind, Value } from './schema.js'

/** A decimal as an integer, scaled to the maximum number of places. */
function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.replace(/^[+-]/, '').split('.')
  const digits = BigInt(whole + fraction.padEnd(40, '0'))
  return decimal.startsWith('-') ? -digits : digits
}

/** Compares values except text, whose order depends on the database. */
export function compareValues(kind: Exclude<Kind, 'text'>, a: Value, b: Value): number {
  if (kind === 'decimal') return order(scaled(String(a)), scaled(String(b)))
  return order(a, b)
}

function order<T extends Value>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Safe integers are JSON numbers, and larger ones are text. Date-times are ISO 8601. */
export function jsonOf(column: Column, value: Value | null): string | number | boolean | null {
  if (value === null) return null
  switch (column.kind) {
    case 'integer':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    case 'decimal':
      return column.asText ? String(value) : Number(value)
    case 'datetime':
      return new Date(Number(value)).toISOString()
    case 'float':
      // JSON has no negative zero.
      return Number(value) + 0
    default:
      return typeof value === 'bigint' ? String(value) : value
  }
}
