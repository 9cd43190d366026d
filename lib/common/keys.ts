// Keys of one attribute, or of several: then they are one text, their parts joined by `~`. In plans and on the wire a key is
// one value either way.

import type { Field, JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, KeyValue, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { ownColumn, ownValue, placeOfOwn } from './columns.js'
import { among, junction } from './predicates.js'
import { spellingsOf } from './spellings.js'
import { decimalOf, EXACT_DIGITS, significantDigits } from './values.js'

/** The fields of a key, of which mostly there is one. */
export type KeyFields = readonly Field[]

const SEPARATOR = '~'

/** The key that these parts make, each as JSON: the only one itself, or the text of several; undefined where one is missing. */
export function keyOfParts(parts: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  if (parts.length === 1) return parts[0] ?? undefined
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return parts.map((part) => encodeURIComponent(String(part)).replaceAll(SEPARATOR, '%7E')).join(SEPARATOR)
}

/** The texts of a key's parts; null where they are not as many as its fields, or not written as parts are. */
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

/** The key in a row; undefined where the row lacks a part. */
export function keyIn(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  return keyOfParts(keys.map(({ name }) => ownValue(columns, row, name)))
}

/** The key from which `afterKey` goes on behind a row: with UUIDs in the spelling that is stored, which their order depends on. */
export function lastKeyIn(keys: KeyFields, columns: readonly Column[], row: Row): JsonValue | undefined {
  const parts = keys.map(({ name, valueType: { type } }) => {
    const stored = type === 'uuid' ? row[placeOfOwn(columns, name)] : undefined
    return typeof stored === 'string' ? stored : ownValue(columns, row, name)
  })
  return keyOfParts(parts)
}

/** The key of values as the database or an instance has them, one a field. */
export function keyOfValues(keys: KeyFields, values: readonly unknown[]): JsonValue | undefined {
  return keyOfParts(keys.map(({ decode }, index) => decode(values[index])))
}

/** What a key is called among others, whether a plan or a row has it. */
export function keyName(keys: KeyFields, values: readonly unknown[]): string {
  return String(keyOfValues(keys, values))
}

/** The name of the record that a key in a plan addresses. */
export function planKeyName(keys: KeyFields, key: unknown): string {
  return String(planKeyJson(keys, key))
}

/** A key in a plan as JSON. */
export function planKeyJson(keys: KeyFields, key: unknown): JsonValue {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return only.decode(key)
  if (typeof key !== 'string') return null
  const isSpelled = keys.some(({ valueType: { type } }) => type === 'uuid')
  return isSpelled ? (keyOfValues(keys, comparedParts(keys, key)) ?? null) : key
}

/** The parts of a key in a plan as JSON, one a field. */
export function planKeyParts(keys: KeyFields, key: KeyValue): readonly JsonValue[] {
  const [only] = keys
  return only !== undefined && keys.length === 1 ? [only.decode(key)] : comparedParts(keys, key)
}

/** The parts of a key in a plan as they are compared, one a field. UUIDs keep their spelling. */
export function comparedParts(keys: KeyFields, key: KeyValue): readonly (KeyValue | boolean)[] {
  if (keys.length === 1) return [key]
  const parts = partsIn(keys, String(key)) ?? []
  return keys.map((field, index) => partValue(field, parts[index] ?? ''))
}

/** The key in a row as it is stored: UUIDs in their spelling. */
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

/** The record, or records, with these keys. */
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

/** Whether a member of a record can be a part of its key. */
export function isKeyPart(value: unknown): value is KeyValue | boolean {
  return isKeyValue(value) || typeof value === 'boolean'
}

/**
 * Whether a value in a body is a number that JSON has perhaps rounded, so that it is the key of another record, or part of one. A FLOAT
 * has no more digits than a number of JSON.
 */
export function isRounded({ valueType: { type } }: Field, value: unknown): boolean {
  if (typeof value !== 'number' || type === 'float' || Number.isSafeInteger(value)) return false
  return Number.isInteger(value) || significantDigits(decimalOf(value)) > EXACT_DIGITS
}

/** The key that parts in a body make; undefined where one of them cannot be a part. */
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
  // As the records of one owner. An index leads to each, where not every database uses one for rows of values.
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

/** The parts of a key as they are compared, once for each way in which they may be spelled together. */
function spelledRows(keys: KeyFields, parts: readonly string[]): readonly (readonly PlainValue[])[] {
  return keys.reduce<readonly (readonly PlainValue[])[]>(
    (rows, field, index) => {
      const spellings = spellingsOf(field, partValue(field, parts[index] ?? ''))
      return rows.flatMap((row) => spellings.map((value) => [...row, value]))
    },
    [[]],
  )
}

/** In a row they would nest in SQLite, which takes no more than a thousand within each other. */
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
 * The records with keys after this one. Each part but the last is compared twice, so that an index leads to the first; not by
 * equality, since to the order a part may be the same as another one that differs in case.
 */
export function afterKey(keys: KeyFields, last: KeyValue): Predicate {
  const [only] = keys
  if (only !== undefined && keys.length === 1) return comparedBy(only, 'gt', [last])
  return afterParts(keys, partsIn(keys, String(last)) ?? [])
}

/** The records with keys from one to another, in the order of the key; null for keys of several parts. */
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

/** A part as it is compared. What is written in digits may be more than a number holds. */
function partValue({ valueType: { type } }: Field, part: string): KeyValue | boolean {
  if (type === 'boolean') return part === 'true'
  if (type !== 'integer' && type !== 'bigint' && type !== 'float') return part
  const number = Number(part)
  return type === 'float' || Number.isSafeInteger(number) ? number : part
}
