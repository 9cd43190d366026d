import type { Field, FieldType } from '../../types/field.js'
import {
  NUMBERS,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readTime,
  readUuid,
  toDecimal,
} from '../common/values.js'

/** A value of a scope, converted so that a statement can bind it. */
export type ScopeValue = string | number | boolean | Date

/**
 * Converts a value to the stored form of its type; null if it does not have the type. Databases convert values of other
 * types: for MySQL every word equals the number 0.
 */
export function readTypedValue(
  { valueType: { type, values } }: Field,
  value: string | number | boolean | undefined,
): ScopeValue | null {
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  // PostgreSQL refuses a statement with another value than those of the enumeration.
  if (type === 'enum' && !values?.some((each) => each === value)) return null
  if (typeof value === 'string') return TEXT_READERS[type]?.(value) ?? null
  if (typeof value !== 'number') return null
  const isNumber = type === 'decimal' || type === 'float' ? Number.isFinite(value) : Number.isSafeInteger(value)
  return isNumber && NUMBERS.has(type) ? value : null
}

const keepText = (text: string): string => text

const TEXT_READERS: { readonly [type in FieldType]?: (text: string) => string | Date | null } = {
  string: keepText,
  enum: keepText,
  integer: readInteger,
  bigint: readInteger,
  decimal: readDecimal,
  float: readDecimal,
  uuid: readUuid,
  date: readDate,
  time: readTime,
  datetime: readDateTime,
}

/**
 * Whether a column stores a value unchanged. Databases round, truncate and strip values, in comparisons as well as in
 * writes.
 */
export function isStoredUnchanged({ valueType, decode }: Field, value: ScopeValue): boolean {
  const { type, precision, scale, single, padded, maxLength } = valueType
  if (type === 'decimal')
    return (
      scale === undefined ||
      isWithinPrecision(typeof value === 'string' ? value : toDecimal(Number(value)), scale, precision)
    )
  // A single-precision column returns the shortest number that is stored as this value.
  if (single === true) return decode(Math.fround(Number(value))) === Number(value)
  if (value instanceof Date) return scale !== 0 || value.getUTCMilliseconds() === 0
  if (typeof value !== 'string') return true
  if (padded === true && value.endsWith(' ')) return false
  // Databases count code points.
  return maxLength === undefined || [...value].length <= maxLength
}

function isWithinPrecision(digits: string, scale: number, precision = Number.POSITIVE_INFINITY): boolean {
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.')
  return fraction.length <= scale && (whole === '0' ? 0 : whole.length) <= precision - scale
}
