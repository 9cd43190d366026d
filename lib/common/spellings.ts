import type { Field } from '../../types/field.js'
import type { PlainValue } from '../../types/plan.js'

/**
 * The spellings in which a client's value may be stored. UUIDs in text columns are lower case, as this package writes
 * them, or upper case, as other systems do. A stored UUID in mixed case is not found.
 */
export function spellingsOf<V extends PlainValue>(
  { valueType }: Pick<Field, 'valueType'>,
  value: V,
): readonly (V | string)[] {
  if (valueType.type !== 'uuid' || typeof value !== 'string') return [value]
  return [...new Set([value, value.toLowerCase(), value.toUpperCase()])]
}
