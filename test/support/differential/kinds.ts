// What values mean: their order and their JSON, by the specification and by nothing of lib/.

import type { Column, Kind, Value } from './schema.js'

/** A decimal as an integer: as many places as any that is compared may have. */
function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.replace(/^[+-]/, '').split('.')
  const digits = BigInt(whole + fraction.padEnd(40, '0'))
  return decimal.startsWith('-') ? -digits : digits
}

/** Everything but text, whose order is the database's own. */
export function compareValues(kind: Exclude<Kind, 'text'>, a: Value, b: Value): number {
  if (kind === 'decimal') return order(scaled(String(a)), scaled(String(b)))
  return order(a, b)
}

function order<T extends Value>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whole numbers are JSON numbers while they are safe, and text beyond; moments are ISO 8601. */
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
