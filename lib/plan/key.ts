import type { Field, ValueType } from '../../types/field.js'
import type { KeyValue, Predicate } from '../../types/plan.js'
import { codecOf, readFilterValue } from '../codec/codecs.js'
import { isKeyValue, isRounded, type KeyFields, keyOfParts, partsIn, withKeys } from '../common/keys.js'

/**
 * Parses a key of a path. Null if the text cannot be a key of the field's type, so that no record has it. Numbers must be written as in
 * responses: `05` is not `5`.
 */
export function readKey({ valueType }: Field, text: string): KeyValue | null {
  const { key = readPlain } = codecOf(valueType)
  return key(text, valueType)
}

function readPlain(text: string, valueType: ValueType): KeyValue | null {
  const read = readFilterValue(valueType, text)
  return read?.kind === 'value' && isKeyValue(read.value) ? read.value : null
}

/** Parses the key of a path, with one or several parts, into the form that plans use. */
export function readKeyOf(keys: KeyFields, text: string): KeyValue | null {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return readKey(only, text)
  const texts = partsIn(keys, text)
  const parts = texts?.map((part, index) => readPart(keys[index], part)) ?? [null]
  const key = parts.includes(null) ? undefined : keyOfParts(parts)
  return typeof key === 'string' ? key : null
}

/** Parses a key of a body. Null if the value cannot be a key, so that no record has it. */
export function readStatedKey(keys: KeyFields, given: unknown): KeyValue | null {
  return isKeyValue(given) && !keys.some((field) => isRounded(field, given)) ? readKeyOf(keys, String(given)) : null
}

function readPart(field: Field | undefined, text: string): KeyValue | null {
  if (field === undefined) return null
  if (field.valueType.type === 'boolean') return text === 'true' || text === 'false' ? text : null
  return readKey(field, text)
}

/** Parses the last key of a page, in its stored spelling. Unlike a key in a path, its text may be empty. */
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

/** Valid keys without duplicates. Invalid keys belong to no record and are dropped. */
export function distinctKeys(keys: KeyFields, given: readonly unknown[]): readonly KeyValue[] {
  return [...new Set(given.map((each) => readStatedKey(keys, each)).filter((each) => each !== null))]
}

/** Predicate for the records with these keys. */
export function byKey(keys: KeyFields, given: readonly KeyValue[]): Predicate {
  return given.length === 0 ? { kind: 'never' } : withKeys(keys, given)
}
