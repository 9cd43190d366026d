import type { Field } from '../../types/field.js'
import { readDateTime, readDecimal, readTime, toDecimal } from './values.js'

/**
 * Whether a body's value equals the value in responses. UUIDs are compared case-insensitively, instants regardless of
 * the offset, times regardless of missing seconds, and decimals as numbers.
 */
export function isSameValue(
  { valueType: { type } }: Pick<Field, 'valueType'>,
  given: unknown,
  shown: unknown,
): boolean {
  if (given === shown) return true
  if (type === 'decimal') return digitsOf(given) !== null && digitsOf(given) === digitsOf(shown)
  if (typeof given !== 'string' || typeof shown !== 'string') return false
  if (type === 'uuid') return given.toLowerCase() === shown.toLowerCase()
  if (type === 'time') return readTime(given) === shown
  if (type !== 'datetime') return false
  const instant = readDateTime(given)
  return instant !== null && instant.getTime() === readDateTime(shown)?.getTime()
}

function digitsOf(decimal: unknown): string | null {
  if (typeof decimal === 'number') return toDecimal(decimal)
  return typeof decimal === 'string' ? readDecimal(decimal) : null
}
