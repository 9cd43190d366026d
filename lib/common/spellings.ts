import type { Field } from '../../types/field.js'
import type { PlainValue } from '../../types/plan.js'

/**
 * Returns the spellings in which a client's value may be stored. In text columns this package writes UUIDs in lower
 * case, and other systems may write upper case. A UUID stored in mixed case is not found.
 */
export function spellingsOf<V extends PlainValue>(
  { valueType }: Pick<Field, 'valueType'>,
  value: V,
): readonly (V | string)[] {
  if (valueType.type !== 'uuid' || typeof value !== 'string') return [value]
  return [...new Set([value, value.toLowerCase(), value.toUpperCase()])]
}
