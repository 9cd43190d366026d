import type { Field } from '../../types/field.js'
import type { PlainValue } from '../../types/plan.js'
import { trimBlanks } from './values.js'

/**
 * A value of one record, as stored or as JSON, where another one is to have it, or is compared with it. Drivers make dates of
 * instants, or texts, and of large numbers what no driver takes back.
 */
export function plainOf({ valueType, decode }: Pick<Field, 'valueType' | 'decode'>, value: unknown): PlainValue {
  if (valueType.type === 'datetime') return new Date(String(decode(value)))
  if (valueType.padded === true) return trimBlanks(String(value))
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}
