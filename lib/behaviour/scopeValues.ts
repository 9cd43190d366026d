import type { Field, FieldType } from '../../types/field.js'
import {
  decimalOf,
  NUMBERS,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readTime,
  readUuid,
} from '../common/values.js'

/** A value that a scope fixes, as it is bound. */
export type ScopeValue = string | number | boolean | Date

/**
 * A value in the form in which its type is stored; null for what is not of the type. Databases make values of other types
 * match: to MySQL every word is equal to the number 0.
 */
export function readAs(
  { valueType: { type } }: Field,
  value: string | number | boolean | undefined,
): ScopeValue | null {
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  if (typeof value === 'string') return TEXTS[type]?.(value) ?? null
  if (typeof value !== 'number') return null
  const isNumber = type === 'decimal' || type === 'float' ? Number.isFinite(value) : Number.isSafeInteger(value)
  return isNumber && NUMBERS.has(type) ? value : null
}

const same = (text: string): string => text

const TEXTS: { readonly [type in FieldType]?: (text: string) => string | Date | null } = {
  string: same,
  enum: same,
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
 * Whether a column stores a value as it is. Databases round, cut off and strip what does not fit, where they look for it as well as
 * where they store it.
 */
export function isKept({ valueType, decode }: Field, value: ScopeValue): boolean {
  const { type, precision, scale, single, padded, maxLength } = valueType
  if (type === 'decimal')
    return scale === undefined || fits(typeof value === 'string' ? value : decimalOf(Number(value)), scale, precision)
  // What a column of four bytes has comes back as the shortest number that it holds so.
  if (single === true) return decode(Math.fround(Number(value))) === Number(value)
  if (typeof value !== 'string') return true
  if (padded === true && value.endsWith(' ')) return false
  // Databases count characters.
  return maxLength === undefined || [...value].length <= maxLength
}

function fits(digits: string, scale: number, precision = Number.POSITIVE_INFINITY): boolean {
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.')
  return fraction.length <= scale && (whole === '0' ? 0 : whole.length) <= precision - scale
}
