import type { Field, Value } from '../../types/field.js'
import type { PlainValue } from '../../types/plan.js'
import { trimBlanks } from './values.js'

/**
 * Converts a value of one record, stored or JSON, to write it to another record or to compare it. Drivers return
 * instants as `Date` or text, and some large numbers in forms that statements do not accept.
 */
export function toPlainValue({ valueType, decode }: Pick<Field, 'valueType' | 'decode'>, value: unknown): PlainValue {
  if (valueType.type === 'datetime') return new Date(String(decode(value)))
  if (valueType.padded === true) return trimBlanks(String(value))
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}

/** Whether a value can be an operand of a condition. */
export function isPlainValue(value: Value): value is PlainValue {
  return typeof value !== 'object' || value instanceof Date
}
