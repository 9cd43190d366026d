import type { Field } from '../../types/field.js'
import { readDateTime } from './values.js'

/**
 * Whether a value of a body is the value that answers show of a field. A UUID in capitals and the same instant with another offset are
 * the same value.
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
