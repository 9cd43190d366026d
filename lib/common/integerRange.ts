import type { ValueType } from '../../types/field.js'

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/**
 * Returns 1 for an integer above the column's range, -1 for an integer below it, else 0. Stored values may exceed the
 * declared range, so the range is at least 64 bits.
 */
export function compareToIntegerRange({ max = GREATEST }: ValueType, number: bigint): -1 | 0 | 1 {
  if (number > (max > GREATEST ? max : GREATEST)) return 1
  return number < LEAST ? -1 : 0
}
