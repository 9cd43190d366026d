import type { Field } from '../../types/field.js'
import { readDateTime } from './values.js'

/**
 * Whether a body's value equals the value in responses. UUIDs are compared case-insensitively, and instants regardless
 * of the offset.
 */
export function isSameValue(
  { valueType: { type } }: Pick<Field, 'valueType'>,
  given: unknown,
  shown: unknown,
): boolean {
  if (given === shown) return true
  if (typeof given !== 'string' || typeof shown !== 'string') return false
  if (type === 'uuid') return given.toLowerCase() === shown.toLowerCase()
  if (type !== 'datetime') return false
  const instant = readDateTime(given)
  return instant !== null && instant.getTime() === readDateTime(shown)?.getTime()
}
