import type { Field } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import { readFilterValue, readKeyText } from '../codec/codecs.js'
import { isKeyOf, isRoundedNumber, joinKeyParts, type KeyFields, splitKey } from '../common/keys.js'
import { problem } from '../common/problem.js'

/** Parses the key of a path, with one or several parts, into the form that plans use. */
export function readKeyParts(keys: KeyFields, text: string): KeyValue | null {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return readKeyText(only.valueType, text)
  const texts = splitKey(keys, text)
  const parts = texts?.map((part, index) => readKeyPart(keys[index], part)) ?? [null]
  const key = parts.includes(null) ? undefined : joinKeyParts(parts)
  return typeof key === 'string' ? key : null
}

/**
 * Parses the key of a path.
 * @throws Problem 404 if no record can have the key
 */
export function requireKey(keys: KeyFields, text: string): KeyValue {
  const key = readKeyParts(keys, text)
  if (key === null) throw problem('not-found')
  return key
}

/** Parses a key of a body. Returns null if the value cannot be a key. */
export function readBodyKey(keys: KeyFields, given: unknown): KeyValue | null {
  return isKeyOf(keys, given) && !keys.some((field) => isRoundedNumber(field, given))
    ? readKeyParts(keys, String(given))
    : null
}

/**
 * Parses a key that the host's code returned. UUIDs keep their spelling, because two stored keys may differ only in
 * case. Returns null if no record can have the key.
 */
export function readReturnedKey(keys: KeyFields, given: string | number | bigint | boolean): KeyValue | null {
  return keys.some((field) => isRoundedNumber(field, given)) ? null : readLastKey(keys, String(given))
}

function readKeyPart(field: Field | undefined, text: string): KeyValue | null {
  return field === undefined ? null : readKeyText(field.valueType, text)
}

/** Parses the last key of a page, in its stored spelling. Unlike a key in a path, this key may be empty. */
export function readLastKey(keys: KeyFields, text: string): KeyValue | null {
  const texts = splitKey(keys, text)
  const parts = texts?.map((part, index) => readLastPart(keys[index], part)) ?? [null]
  if (parts.includes(null)) return null
  const [only = null] = parts
  return keys.length === 1 ? only : text
}

function readLastPart(field: Field | undefined, text: string): KeyValue | null {
  if (field === undefined) return null
  const { type } = field.valueType
  if (type !== 'string' && type !== 'uuid') return readKeyPart(field, text)
  return readFilterValue(field.valueType, text) === null ? null : text
}

/** Returns the valid keys without duplicates. Drops invalid keys, because no record has an invalid key. */
export function distinctKeys(keys: KeyFields, given: readonly unknown[]): readonly KeyValue[] {
  return [...new Set(given.map((each) => readBodyKey(keys, each)).filter((each) => each !== null))]
}
