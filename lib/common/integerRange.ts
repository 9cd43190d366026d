import type { ValueType } from '../../types/field.js'

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/**
 * Returns 1 for an integer above the column's range, -1 for an integer below it, and 0 otherwise. The range has at
 * least 64 bits, because stored values may exceed the declared range.
 */
export function compareToIntegerRange({ max = GREATEST }: ValueType, number: bigint): -1 | 0 | 1 {
  if (number > (max > GREATEST ? max : GREATEST)) return 1
  return number < LEAST ? -1 : 0
}
