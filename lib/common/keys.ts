// Keys with one or several parts. The parts of a composite key are joined by `~`. A key is one value in plans and in
// the API.

import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, KeyValue, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { ownColumn, ownValue, placeOfOwn } from './columns.js'
import { among, junction } from './predicates.js'
import { spellingsOf } from './spellings.js'
import { decimalOf, EXACT_DIGITS, significantDigits } from './values.js'

/** The fields of a key. */
export type KeyFields = readonly Field[]

const SEPARATOR = '~'

/** The key of these parts as JSON: the only part, or the joined text. Undefined if a part is missing. */
export function keyOfParts(parts: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  if (parts.length === 1) return parts[0] ?? undefined
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return parts.map((part) => encodeURIComponent(String(part)).replaceAll(SEPARATOR, '%7E')).join(SEPARATOR)
}

/** The parts of a key's text; null if their number is wrong or a part is not escaped correctly. */
export function partsIn(keys: KeyFields, text: string): readonly string[] | null {
  if (keys.length === 1) return [text]
  const parts = text.split(SEPARATOR)
  if (parts.length !== keys.length) return null
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return null
  }
}

/** The key in a row; undefined if the row lacks a part. */
export function keyIn(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  return keyOfParts(keys.map(({ name }) => ownValue(columns, row, name)))
}

/** The key for `afterKey` in a row. UUIDs keep their stored spelling, because the order depends on it. */
export function lastKeyIn(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  const parts = keys.map(({ name, valueType: { type } }) => {
    const stored = type === 'uuid' ? row[placeOfOwn(columns, name)] : undefined
    return typeof stored === 'string' ? stored : ownValue(columns, row, name)
  })
  return keyOfParts(parts)
}

/** The key of the values of a database or an instance, one per field. */
export function keyOfValues(keys: KeyFields, values: readonly unknown[]): JsonValue | undefined {
  return keyOfParts(keys.map(({ decode }, index) => decode(values[index])))
}

/** A text that identifies a key, for values of a plan or of a row. */
export function keyName(keys: KeyFields, values: readonly unknown[]): string {
  return String(keyOfValues(keys, values))
}

/** The text that identifies the record of a key in a plan. */
export function planKeyName(keys: KeyFields, key: unknown): string {
  return String(planKeyJson(keys, key))
}

export function planKeyJson(keys: KeyFields, key: unknown): JsonValue {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return only.decode(key)
  if (typeof key !== 'string') return null
  const isSpelled = keys.some(({ valueType: { type } }) => type === 'uuid')
  return isSpelled ? (keyOfValues(keys, comparedParts(keys, key)) ?? null) : key
}

/** The parts of a plan's key as JSON, one per field. */
export function planKeyParts(keys: KeyFields, key: KeyValue): readonly JsonValue[] {
  const [only] = keys
  return only !== undefined && keys.length === 1 ? [only.decode(key)] : comparedParts(keys, key)
}

/** The parts of a plan's key for comparison, one per field. UUIDs keep their spelling. */
export function comparedParts(keys: KeyFields, key: KeyValue): readonly (KeyValue | boolean)[] {
  if (keys.length === 1) return [key]
  const parts = partsIn(keys, String(key)) ?? []
  return keys.map((field, index) => partValue(field, parts[index] ?? ''))
}

/** The key in a row as stored, with the spelling of UUIDs. */
export function storedKeyOf(keys: KeyFields, row: Row): KeyValue {
  const parts = keys.map(({ decode, valueType: { type } }, index) => {
    const stored = row[index]
    return type === 'uuid' && typeof stored === 'string' ? stored : decode(stored)
  })
  const key = keyOfParts(parts)
  return isKeyValue(key) ? key : String(key)
}

export function keyColumns(keys: KeyFields): readonly Column[] {
  return keys.map(ownColumn)
}

/** The condition for the records with these keys. */
export function withKeys(keys: KeyFields, given: readonly unknown[]): Predicate {
  const values = given.filter(isKeyValue)
  if (values.length === 0) return { kind: 'never' }
  const [only] = keys
  if (only !== undefined && keys.length === 1) return among(only, values)
  return withParts(
    keys,
    values.flatMap((value) => {
      const parts = partsIn(keys, String(value))
      return parts === null ? [] : [parts]
    }),
  )
}

export function isKeyPart(value: unknown): value is KeyValue | boolean {
  return isKeyValue(value) || typeof value === 'boolean'
}

/**
 * Whether JSON may have rounded a number in a body, so that it could be another record's key. A FLOAT is not more
 * precise than a JSON number.
 */
export function isRounded({ valueType: { type } }: Field, value: unknown): boolean {
  if (typeof value !== 'number' || type === 'float' || Number.isSafeInteger(value)) return false
  return Number.isInteger(value) || significantDigits(decimalOf(value)) > EXACT_DIGITS
}

/** The key of the parts in a body; undefined if a part is not a valid one. */
export function keyOfStated(keys: KeyFields, parts: readonly unknown[]): JsonValue | undefined {
  const isRead = parts.every(isKeyPart) && !keys.some((field, index) => isRounded(field, parts[index]))
  return isRead ? keyOfParts(parts) : undefined
}

export function isKeyValue(value: unknown): value is KeyValue {
  return typeof value === 'string' || typeof value === 'number'
}

function withParts(keys: KeyFields, all: readonly (readonly string[])[]): Predicate {
  const rows = all.flatMap((parts) => spelledRows(keys, parts))
  const isText = keys.some(({ valueType }) => valueType.type === 'string')
  const each = all.map((parts): Predicate => {
    return { kind: 'and', nodes: keys.map((field, index) => among(field, [partValue(field, parts[index] ?? '')])) }
  })
  const [only] = each
  if (only === undefined) return { kind: 'never' }
  if (each.length === 1) return only
  const varying = keys.filter((_, index) => all.some((parts) => parts[index] !== all[0]?.[index]))
  // Compared part by part, as for records of one parent. Not every database uses an index for rows of values.
  if (varying.length === 1) {
    const valuesOf = (field: Field): readonly PlainValue[] => {
      const index = keys.indexOf(field)
      const parts = varying.includes(field) ? all : all.slice(0, 1)
      return parts.map((each) => partValue(field, each[index] ?? ''))
    }
    return { kind: 'and', nodes: keys.map((field) => among(field, valuesOf(field))) }
  }
  return { kind: 'tuples', fields: keys, values: rows.flat(), exact: isText ? anyOf(each) : null }
}

/** The parts of a key for comparison, once for each combination of spellings. */
function spelledRows(keys: KeyFields, parts: readonly string[]): readonly (readonly PlainValue[])[] {
  return keys.reduce<readonly (readonly PlainValue[])[]>(
    (rows, field, index) => {
      const spellings = spellingsOf(field, partValue(field, parts[index] ?? ''))
      return rows.flatMap((row) => spellings.map((value) => [...row, value]))
    },
    [[]],
  )
}

/** SQLite nests a chain of conditions, and allows a depth of 1000. */
const WIDEST = 25

export function anyOf(nodes: readonly Predicate[]): Predicate {
  return joined('or', nodes) ?? { kind: 'never' }
}

export function allOf(nodes: readonly Predicate[]): Predicate {
  return joined('and', nodes) ?? { kind: 'always' }
}

function joined(kind: 'and' | 'or', nodes: readonly Predicate[]): Predicate | null {
  if (nodes.length <= WIDEST) return junction(kind, nodes)
  const size = Math.ceil(nodes.length / WIDEST)
  const parts = Array.from({ length: Math.ceil(nodes.length / size) }, (_, at) =>
    nodes.slice(at * size, (at + 1) * size),
  )
  return { kind, nodes: parts.map((part) => joined(kind, part)).filter((part) => part !== null) }
}

/**
 * The keyset predicate: records with keys after this one. Each part except the last is compared twice, so that an index
 * on the first part is used. Equality does not work, because a collation may order parts as equal that differ in case.
 */
export function afterKey(keys: KeyFields, last: KeyValue): Predicate {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return comparedBy(only, 'gt', [last])
  return afterParts(keys, partsIn(keys, String(last)) ?? [])
}

/** The records from one key to another, inclusive; null for a composite key. */
export function betweenKeys(keys: KeyFields, first: KeyValue, last: KeyValue): Predicate | null {
  const [only] = keys
  if (only === undefined || keys.length > 1) return null
  return { kind: 'and', nodes: [comparedBy(only, 'gte', [first]), comparedBy(only, 'lte', [last])] }
}

function afterParts(keys: KeyFields, parts: readonly string[]): Predicate {
  const [field, ...others] = keys
  const [part, ...rest] = parts
  if (field === undefined || part === undefined) return { kind: 'never' }
  const value = partValue(field, part)
  const after = comparedBy(field, 'gt', [value])
  if (others.length === 0) return after
  const from = comparedBy(field, 'gte', [value])
  return { kind: 'and', nodes: [from, { kind: 'or', nodes: [after, afterParts(others, rest)] }] }
}

function comparedBy(field: Field, operator: PositiveOperator, values: readonly PlainValue[]): Predicate {
  return { kind: 'compare', column: ownColumn(field), operator, values, ignoreCase: false, negated: false }
}

/** A part for comparison. Digits may exceed a number's range. */
function partValue({ valueType: { type } }: Field, part: string): KeyValue | boolean {
  if (type === 'boolean') return part === 'true'
  if (type !== 'integer' && type !== 'bigint' && type !== 'float') return part
  const number = Number(part)
  return type === 'float' || Number.isSafeInteger(number) ? number : part
}
