// Keys with one or several parts. Plans and the API treat a key as one value. `~` joins the parts of a composite key.

import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, ComparePredicate, KeyValue, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { splitIntoChunks } from './chunks.js'
import { indexOfOwnColumn, ownColumn, readOwnValue } from './columns.js'
import { joinPredicates, matchAnyValue } from './predicates.js'
import { countSignificantDigits, EXACT_DIGITS, toDecimal } from './values.js'

/** The fields of a key. */
export type KeyFields = readonly Field[]

const SEPARATOR = '~'

/**
 * Joins the parts of a key: the only part as JSON, or a text of several parts. Undefined if a part is missing, or if one
 * of several parts is not well-formed Unicode, because no record has such a key.
 */
export function joinKeyParts(parts: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  if (parts.length === 1) return parts[0] ?? undefined
  const texts: string[] = []
  for (const part of parts) {
    if (part === undefined || part === null) return undefined
    const text = escapeKeyPart(String(part))
    if (text === null) return undefined
    texts.push(text)
  }
  return texts.join(SEPARATOR)
}

/** Escapes a part of a composite key; null for a text with an unpaired surrogate. */
function escapeKeyPart(part: string): string | null {
  try {
    return encodeURIComponent(part).replaceAll(SEPARATOR, '%7E')
  } catch {
    return null
  }
}

/** Splits the text of a key; null if the number of parts is wrong or a part is not escaped correctly. */
export function splitKey(keys: KeyFields, text: string): readonly string[] | null {
  if (keys.length === 1) return [text]
  const parts = text.split(SEPARATOR)
  if (parts.length !== keys.length) return null
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return null
  }
}

/** Reads the key from a row; undefined if the row lacks a part. */
export function keyOfRow(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  return joinKeyParts(keys.map(({ name }) => readOwnValue(columns, row, name)))
}

/** Reads the key for `seekAfterKey` from a row. UUIDs keep their stored spelling, because the order depends on it. */
export function lastKeyOfRow(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  const parts = keys.map(({ name, valueType: { type } }) => {
    const stored = type === 'uuid' ? row[indexOfOwnColumn(columns, name)] : undefined
    return typeof stored === 'string' ? stored : readOwnValue(columns, row, name)
  })
  return joinKeyParts(parts)
}

/** Joins a key from values of a database row or an instance, one per field. */
export function encodeKey(keys: KeyFields, values: readonly unknown[]): JsonValue | undefined {
  return joinKeyParts(keys.map(({ decode }, index) => decode(values[index])))
}

/** Returns a text that identifies a key, from values of a plan or of a row. */
export function keyText(keys: KeyFields, values: readonly unknown[]): string {
  return String(encodeKey(keys, values))
}

/** Returns a text that identifies the record of a plan's key. */
export function planKeyText(keys: KeyFields, key: unknown): string {
  return String(planKeyJson(keys, key))
}

export function planKeyJson(keys: KeyFields, key: unknown): JsonValue {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return only.decode(parseBoolean(only, key))
  if (typeof key !== 'string') return null
  // Clients may write other spellings of these values than responses.
  const isSpelled = keys.some(({ valueType: { type } }) => type === 'uuid' || type === 'decimal')
  return isSpelled ? (encodeKey(keys, comparableKeyParts(keys, key)) ?? null) : key
}

/** Returns the parts of a plan's key as JSON, one per field. */
export function planKeyParts(keys: KeyFields, key: KeyValue): readonly JsonValue[] {
  const parts = comparableKeyParts(keys, key)
  return keys.map(({ decode }, index) => decode(parts[index]))
}

/** Returns the parts of a plan's key for comparison, one per field. UUIDs keep their spelling. */
export function comparableKeyParts(keys: KeyFields, key: KeyValue): readonly (KeyValue | boolean)[] {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return [parseBoolean(only, key)]
  const parts = splitKey(keys, String(key)) ?? []
  return keys.map((field, index) => parseKeyPart(field, parts[index] ?? ''))
}

/** Reads the key from a row as stored, with the spelling of UUIDs. */
export function storedKeyOfRow(keys: KeyFields, row: Row): KeyValue {
  const parts = keys.map(({ decode, valueType: { type } }, index) => {
    const stored = row[index]
    return type === 'uuid' && typeof stored === 'string' ? stored : decode(stored)
  })
  const key = joinKeyParts(parts)
  return isKeyValue(key) ? key : String(key)
}

export function keyColumns(keys: KeyFields): readonly Column[] {
  return keys.map(ownColumn)
}

/** Returns the condition for the records with these keys. */
export function matchKeys(keys: KeyFields, given: readonly unknown[]): Predicate {
  const values = given.filter(isKeyPart)
  if (values.length === 0) return { kind: 'never' }
  const [only] = keys
  if (only !== undefined && keys.length === 1) return matchKeyPart(only, values)
  return matchKeyParts(
    keys,
    values.flatMap((value) => {
      const parts = splitKey(keys, String(value))
      return parts === null ? [] : [parts]
    }),
  )
}

export function isKeyPart(value: unknown): value is KeyValue | boolean {
  return isKeyValue(value) || typeof value === 'boolean'
}

/** Whether a value can be a key with these fields. Only the value of a single BOOLEAN key is a boolean. */
export function isKeyOf(keys: KeyFields, value: unknown): value is KeyValue | boolean {
  const isBoolean = keys.length === 1 && keys[0]?.valueType.type === 'boolean'
  return isBoolean ? isKeyPart(value) : isKeyValue(value)
}

/**
 * Whether JSON may have rounded a number in a body, so that it could be the key of another record. A FLOAT is never
 * more precise than a JSON number.
 */
export function isRoundedNumber({ valueType: { type } }: Field, value: unknown): boolean {
  if (typeof value !== 'number' || type === 'float' || Number.isSafeInteger(value)) return false
  return Number.isInteger(value) || countSignificantDigits(toDecimal(value)) > EXACT_DIGITS
}

/** Joins the key from the parts in a body; undefined if a part is invalid. */
export function keyOfBodyParts(keys: KeyFields, parts: readonly unknown[]): JsonValue | undefined {
  const isRead = parts.every(isKeyPart) && !keys.some((field, index) => isRoundedNumber(field, parts[index]))
  return isRead ? joinKeyParts(parts) : undefined
}

export function isKeyValue(value: unknown): value is KeyValue {
  return typeof value === 'string' || typeof value === 'number'
}

function matchKeyParts(keys: KeyFields, all: readonly (readonly string[])[]): Predicate {
  const rows = all.flatMap((parts) => spellingsOfParts(keys, parts))
  const isText = keys.some(({ valueType }) => valueType.type === 'string')
  const each = all.map((parts): Predicate => {
    return {
      kind: 'and',
      nodes: keys.map((field, index) => matchKeyPart(field, [parseKeyPart(field, parts[index] ?? '')])),
    }
  })
  const [only] = each
  if (only === undefined) return { kind: 'never' }
  if (each.length === 1) return only
  const varying = keys.filter((_, index) => all.some((parts) => parts[index] !== all[0]?.[index]))
  // Keys that differ in one part, as for records of one parent, are compared part by part. Not every database uses an
  // index for rows of values.
  if (varying.length === 1) {
    const partValuesOf = (field: Field): readonly PlainValue[] => {
      const index = keys.indexOf(field)
      const parts = varying.includes(field) ? all : all.slice(0, 1)
      return parts.map((each) => parseKeyPart(field, each[index] ?? ''))
    }
    return { kind: 'and', nodes: keys.map((field) => matchKeyPart(field, partValuesOf(field))) }
  }
  return { kind: 'tuples', fields: keys, values: rows.flat(), exact: isText ? joinByOr(each) : null }
}

/** Returns the parts of a key for comparison, once for each combination of spellings. */
function spellingsOfParts(keys: KeyFields, parts: readonly string[]): readonly (readonly PlainValue[])[] {
  return keys.reduce<readonly (readonly PlainValue[])[]>(
    (rows, field, index) => {
      const spellings = spellingsOf(field, toOperand(field, parseKeyPart(field, parts[index] ?? '')))
      return rows.flatMap((row) => spellings.map((value) => [...row, value]))
    },
    [[]],
  )
}

/**
 * The maximum number of conditions in one AND or OR. Longer lists are split into groups, because SQLite nests a chain
 * of conditions and limits the depth to 1000.
 */
const MAX_NODES = 25

export function joinByOr(nodes: readonly Predicate[]): Predicate {
  return joinNested('or', nodes) ?? { kind: 'never' }
}

export function joinByAnd(nodes: readonly Predicate[]): Predicate {
  return joinNested('and', nodes) ?? { kind: 'always' }
}

function joinNested(kind: 'and' | 'or', nodes: readonly Predicate[]): Predicate | null {
  if (nodes.length <= MAX_NODES) return joinPredicates(kind, nodes)
  const parts = splitIntoChunks(nodes, Math.ceil(nodes.length / MAX_NODES))
  return { kind, nodes: parts.map((part) => joinNested(kind, part)).filter((part) => part !== null) }
}

/**
 * Returns the keyset predicate: records with keys after `last`. Each part except the last is compared twice, so that
 * the database can use an index on the first part. An equality would be wrong, because a collation may order parts that
 * differ only in case as equal.
 */
export function seekAfterKey(keys: KeyFields, last: KeyValue): Predicate {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return compareOwnField(only, 'gt', last)
  return seekAfterParts(keys, splitKey(keys, String(last)) ?? [])
}

/** Returns the condition for the records between two keys, inclusive; null for a composite key. */
export function matchKeyRange(keys: KeyFields, first: KeyValue, last: KeyValue): Predicate | null {
  const [only] = keys
  if (only === undefined || keys.length > 1) return null
  return { kind: 'and', nodes: [compareOwnField(only, 'gte', first), compareOwnField(only, 'lte', last)] }
}

function seekAfterParts(keys: KeyFields, parts: readonly string[]): Predicate {
  const [field, ...others] = keys
  const [part, ...rest] = parts
  if (field === undefined || part === undefined) return { kind: 'never' }
  const value = parseKeyPart(field, part)
  const after = compareOwnField(field, 'gt', value)
  if (others.length === 0) return after
  const from = compareOwnField(field, 'gte', value)
  return { kind: 'and', nodes: [from, { kind: 'or', nodes: [after, seekAfterParts(others, rest)] }] }
}

function compareOwnField(field: Field, operator: 'gt' | 'gte' | 'lte', part: PlainValue): Predicate {
  const value = toOperand(field, part)
  if (!(value instanceof Date) || operator === 'gte') return compareWith(field, operator, value)
  // The column may store more digits than the text of the key.
  return compareWith(field, operator === 'gt' ? 'gte' : 'lt', new Date(value.getTime() + 1))
}

function compareWith(field: Field, operator: PositiveOperator, value: PlainValue): Predicate {
  return { kind: 'compare', column: ownColumn(field), operator, values: [value], ignoreCase: false, negated: false }
}

/** Returns the condition that a field equals one of the values of a key. */
export function matchKeyPart(field: Field, values: readonly PlainValue[]): ComparePredicate {
  return matchAnyValue(
    field,
    values.map((value) => toOperand(field, value)),
  )
}

/** Returns the operands that match a value of a key's field: one for each spelling. */
export function spellingsOfPart(field: Field, value: unknown): readonly unknown[] {
  return isKeyPart(value) ? spellingsOf(field, toOperand(field, value)) : [value]
}

/** Converts a part of a key to an operand. In keys, an instant is the text that responses contain. */
function toOperand(field: Field, part: PlainValue): PlainValue {
  return field.valueType.type === 'datetime' && typeof part === 'string' ? new Date(part) : parseBoolean(field, part)
}

/** Converts the text of a BOOLEAN key to a boolean. Returns other values unchanged. */
function parseBoolean<V>({ valueType: { type } }: Field, value: V): V | boolean {
  return type === 'boolean' && typeof value === 'string' ? value === 'true' : value
}

/** Parses a part of a key for comparison. Digits that exceed a number's range stay text. */
function parseKeyPart({ valueType: { type } }: Field, part: string): KeyValue | boolean {
  if (type === 'boolean') return part === 'true'
  if (type !== 'integer' && type !== 'bigint' && type !== 'float') return part
  const number = Number(part)
  return type === 'float' || Number.isSafeInteger(number) ? number : part
}

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
