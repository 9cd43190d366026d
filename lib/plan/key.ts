import type { Field, FieldType } from '../../types/field.js'
import type { KeyValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { ownColumn } from '../common/columns.js'
import { readFilterValue } from './value.js'

/** No number is written in more characters: what is longer is looked at no further. */
const LONGEST_NUMBER = 64

const NUMERIC: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'decimal', 'float'])

/**
 * A key as it stands in a path, or null for what cannot be a key of the field's type and so belongs to no record.
 * Numbers must be written as they are in responses: `05` is not `5`.
 */
export function readKey({ valueType }: Field, text: string): KeyValue | null {
  if (NUMERIC.has(valueType.type) && text.length > LONGEST_NUMBER) return null
  const read = readFilterValue(valueType, text)
  if (read?.kind !== 'value') return null
  const { value } = read
  switch (valueType.type) {
    case 'integer':
    case 'bigint': {
      if (String(value) !== text || typeof value === 'boolean' || value instanceof Date) return null
      const number = BigInt(text)
      return number >= (valueType.min ?? number) && number <= (valueType.max ?? number) ? value : null
    }
    case 'string':
      return typeof value === 'string' && value !== '' && [...value].length <= (valueType.maxLength ?? Infinity)
        ? value
        : null
    case 'float':
      return typeof value === 'number' && Number.isFinite(value) ? value : null
    default:
      return typeof value === 'string' || typeof value === 'number' ? value : null
  }
}

/** The keys that can be keys, each once: what cannot be one belongs to no record. */
export function distinctKeys(key: Field, keys: readonly unknown[]): readonly KeyValue[] {
  const read = keys
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .map((each) => readKey(key, String(each)))
    .filter((each) => each !== null)
  return [...new Set(read)]
}

/** The record, or records, with these keys. */
export function byKey(key: Field, keys: readonly KeyValue[]): Predicate {
  if (keys.length === 0) return { kind: 'never' }
  return keyCompared(key, keys.length === 1 ? 'eq' : 'in', keys)
}

/** The records with keys after this one. */
export function afterKey(key: Field, last: KeyValue): Predicate {
  return keyCompared(key, 'gt', [last])
}

function keyCompared(key: Field, operator: PositiveOperator, values: readonly KeyValue[]): Predicate {
  return { kind: 'compare', column: ownColumn(key), operator, values, ignoreCase: false, negated: false }
}
