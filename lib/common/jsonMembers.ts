import type { Field, ItemOf, JsonValue, MemberOf, MemberType } from '../../types/field.js'
import { internalError } from './internalError.js'
import { isObject } from './object.js'
import { readDate } from './values.js'

/** Returns the field that statements compare, if it differs from the field in the API. */
export function storedFieldOf(field: Field): Field {
  return field.stored ?? field
}

/** Returns the JSON member that a field is derived from; null for other fields. */
export function jsonMemberOf({ derived }: Pick<Field, 'derived'>): MemberOf | null {
  return derived?.kind === 'member' ? derived : null
}

/** Whether a field is an array of texts, which filters test for a contained text. */
export function isArrayField(field: Pick<Field, 'derived' | 'computed'>): boolean {
  return (field.computed ?? jsonMemberOf(field))?.type === 'array'
}

/** Returns the array items that a field is derived from. @throws TypeError for other fields */
export function arrayItemOf({ name, derived }: Pick<Field, 'name' | 'derived'>): ItemOf {
  if (derived?.kind === 'item') return derived
  throw internalError(`the field "${name}" is not an item of an array`)
}

/**
 * Formats a date-time as JSON text, so that the order as text is the order of time. Dates beyond the year 9999 sort
 * after all others.
 */
export function formatDateTime(date: Date): string {
  const text = date.toISOString()
  return text.startsWith('+') ? AFTER_DIGITS : text
}

/** A text that sorts after every digit. */
const AFTER_DIGITS = '~'

/** Reads a member of a document; null if the member is missing or has another type. */
export function readJsonMember(document: unknown, { path, type }: Pick<MemberOf, 'path' | 'type'>): JsonValue {
  let value: unknown = document
  for (const name of path) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return TYPE_TESTS[type](value) ? (value as JsonValue) : null
}

/** Converts a value of the application to JSON; undefined if it does not have the type. Date-times may be a `Date`. */
export function toJsonOfType(type: MemberType, given: unknown): JsonValue | undefined {
  const value =
    type === 'datetime' && given instanceof Date && !Number.isNaN(given.getTime()) ? formatDateTime(given) : given
  const isOfType = TYPE_TESTS[type](value) && (!isArrayValue(value) || value.every((item) => typeof item === 'string'))
  return isOfType ? (value as JsonValue) : undefined
}

function isArrayValue(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

const TYPE_TESTS: Readonly<Record<MemberOf['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && readDate(value) === value,
  datetime: (value) => typeof value === 'string' && isDateTimeText(value),
  array: Array.isArray,
}

function isDateTimeText(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) || text.startsWith('0000')) return false
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString() === text
}
