import type { Field } from '../../types/field.js'
import type { KeyValue, Predicate } from '../../types/plan.js'
import { readFilterValue } from '../codec/codecs.js'
import { beyondIntegers } from '../common/bounds.js'
import { isKeyValue, isRounded, type KeyFields, keyOfParts, partsIn, withKeys } from '../common/keys.js'
import { NUMBERS } from '../common/values.js'

/** No number is written in more characters: what is longer is looked at no further. */
const LONGEST_NUMBER = 64

/**
 * A key as it stands in a path, or null for what cannot be a key of the field's type and so belongs to no record.
 * Numbers must be written as they are in responses: `05` is not `5`.
 */
export function readKey({ valueType }: Field, text: string): KeyValue | null {
  if (NUMBERS.has(valueType.type) && text.length > LONGEST_NUMBER) return null
  if (valueType.type === 'float' && isExponential(text)) return Number(text)
  const read = readFilterValue(valueType, text)
  if (read?.kind !== 'value') return null
  const { value } = read
  switch (valueType.type) {
    case 'integer':
    case 'bigint': {
      if (String(value) !== text || typeof value === 'boolean' || value instanceof Date) return null
      return beyondIntegers(valueType, BigInt(text)) === 0 ? value : null
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

/** Whether a number is written as JSON writes it where it needs an exponent: `1e-7`. */
function isExponential(text: string): boolean {
  return /^-?\d(?:\.\d+)?e[+-]\d+$/.test(text) && String(Number(text)) === text
}

/** A key of several parts as it stands in a path, or of one; in the form in which plans have it. */
export function readKeyOf(keys: KeyFields, text: string): KeyValue | null {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return readKey(only, text)
  const texts = partsIn(keys, text)
  const parts = texts?.map((part, index) => readPart(keys[index], part)) ?? [null]
  const key = parts.includes(null) ? undefined : keyOfParts(parts)
  return typeof key === 'string' ? key : null
}

/** A key as a body states it, or null for what cannot be one and so belongs to no record. */
export function readStatedKey(keys: KeyFields, given: unknown): KeyValue | null {
  return isKeyValue(given) && !keys.some((field) => isRounded(field, given)) ? readKeyOf(keys, String(given)) : null
}

function readPart(field: Field | undefined, text: string): KeyValue | null {
  if (field === undefined) return null
  if (field.valueType.type === 'boolean') return text === 'true' || text === 'false' ? text : null
  return readKey(field, text)
}

/** The last key of a page, in the spelling that is stored. Its texts may be any: the empty one too, which is no key in a path. */
export function readLastKey(keys: KeyFields, text: string): KeyValue | null {
  const texts = partsIn(keys, text)
  const parts = texts?.map((part, index) => readLast(keys[index], part)) ?? [null]
  if (parts.includes(null)) return null
  const [only = null] = parts
  return keys.length === 1 ? only : text
}

function readLast(field: Field | undefined, text: string): KeyValue | null {
  if (field === undefined) return null
  const { type } = field.valueType
  if (type !== 'string' && type !== 'uuid') return readPart(field, text)
  return readFilterValue(field.valueType, text) === null ? null : text
}

/** The keys that can be keys, each once: what cannot be one belongs to no record. */
export function distinctKeys(keys: KeyFields, given: readonly unknown[]): readonly KeyValue[] {
  return [...new Set(given.map((each) => readStatedKey(keys, each)).filter((each) => each !== null))]
}

/** The record, or records, with these keys. */
export function byKey(keys: KeyFields, given: readonly KeyValue[]): Predicate {
  return given.length === 0 ? { kind: 'never' } : withKeys(keys, given)
}
