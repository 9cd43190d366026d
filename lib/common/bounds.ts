import type { ValueType } from '../../types/field.js'

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/**
 * 1 for a whole number greater than any that a column of the type may hold, -1 for one less than any, else 0. A table may
 * have larger numbers than the model declares, and shows them.
 */
export function beyondIntegers({ max = GREATEST }: ValueType, number: bigint): -1 | 0 | 1 {
  if (number > (max > GREATEST ? max : GREATEST)) return 1
  return number < LEAST ? -1 : 0
}
