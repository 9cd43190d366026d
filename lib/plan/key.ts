import type { Field, ValueType } from '../../types/field.js'
import type { KeyValue, Predicate } from '../../types/plan.js'
import { codecOf, readFilterValue } from '../codec/codecs.js'
import { isKeyValue, isRounded, type KeyFields, keyOfParts, partsIn, withKeys } from '../common/keys.js'

/**
 * A key as it stands in a path, or null for what cannot be a key of the field's type and so belongs to no record.
 * Numbers must be written as they are in responses: `05` is not `5`.
 */
export function readKey({ valueType }: Field, text: string): KeyValue | null {
  const { key = readPlain } = codecOf(valueType)
  return key(text, valueType)
}

function readPlain(text: string, valueType: ValueType): KeyValue | null {
  const read = readFilterValue(valueType, text)
  return read?.kind === 'value' && isKeyValue(read.value) ? read.value : null
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
