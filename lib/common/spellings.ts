import type { Field } from '../../types/field.js'
import type { PlainValue } from '../../types/plan.js'

/**
 * The spellings in which a value of a client may be stored. Databases that keep UUIDs as text keep them in lower case, as this
 * package writes them, or in upper case, as other systems do. A UUID in mixed case is found by neither.
 */
export function spellingsOf<V extends PlainValue>(
  { valueType }: Pick<Field, 'valueType'>,
  value: V,
): readonly (V | string)[] {
  if (valueType.type !== 'uuid' || typeof value !== 'string') return [value]
  return [...new Set([value, value.toLowerCase(), value.toUpperCase()])]
}
