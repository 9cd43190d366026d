// Orders values and converts them to JSON, as the specification says. The code is independent of lib/.

import type { Column, Kind, Value } from './schema.js'

/** Converts a decimal to an integer, scaled to the maximum number of places. */
function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.replace(/^[+-]/, '').split('.')
  const digits = BigInt(whole + fraction.padEnd(40, '0'))
  return decimal.startsWith('-') ? -digits : digits
}

/** Compares two values. Text is excluded, because its order depends on the database. */
export function compareValues(kind: Exclude<Kind, 'text'>, a: Value, b: Value): number {
  if (kind === 'decimal') return order(scaled(String(a)), scaled(String(b)))
  return order(a, b)
}

function order<T extends Value>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** JSON value of a column. Safe integers are JSON numbers, and larger integers are text. Date-times are ISO 8601. */
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
      // Adding 0 converts -0 to 0, because JSON has no negative zero.
      return Number(value) + 0
    default:
      return typeof value === 'bigint' ? String(value) : value
  }
}
