import type { FilterValue, ValueType } from '../../types/field.js'
import {
  daySpan,
  isStorableText,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readLongTime,
  readTime,
  readUuid,
} from '../common/values.js'

/**
 * The text of a filter operand or a typed parameter as a value of the field's type; null when it is none.
 *
 * Numbers may exceed the column, which is a comparison like any other. Integers are numbers while safe, else their
 * digits as text; floats may be infinite. Decimals stay text, so that they never pass through floating point.
 */
export function readFilterValue(valueType: ValueType, text: string): FilterValue | null {
  if (valueType.type === 'datetime') return readMoment(text)
  const value = readValue(valueType, text)
  return value === null ? null : { kind: 'value', value }
}

function readMoment(text: string): FilterValue | null {
  const day = readDate(text)
  if (day !== null) return { kind: 'day', ...daySpan(day) }
  const value = readDateTime(text)
  return value === null ? null : { kind: 'value', value }
}

function readValue(valueType: ValueType, text: string): string | number | boolean | null {
  switch (valueType.type) {
    case 'string':
      return isStorableText(text) ? text : null
    case 'integer':
    case 'bigint':
      return integer(text)
    case 'decimal':
      return readDecimal(text)
    case 'float':
      return float(text)
    case 'boolean':
      return boolean(text)
    case 'date':
      return readDate(text)
    case 'time':
      return valueType.longest === undefined ? readTime(text) : readLongTime(text, valueType.longest)
    case 'uuid':
      return readUuid(text)
    case 'enum':
      return named(valueType.values ?? [], text)
    default:
      return null
  }
}

function integer(text: string): string | number | null {
  const digits = readInteger(text)
  if (digits === null) return null
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

/** Infinite for what is beyond any column. */
function float(text: string): number | null {
  const digits = readDecimal(text)
  return digits === null ? null : Number(digits)
}

function boolean(text: string): boolean | null {
  const word = text.toLowerCase()
  return word === 'true' ? true : word === 'false' ? false : null
}

/** The declared spelling of an enumeration's name; the exact one where two differ in case only. */
function named(values: readonly string[], text: string): string | null {
  if (values.includes(text)) return text
  const word = text.toLowerCase()
  return values.find((value) => value.toLowerCase() === word) ?? null
}

/** What values of the type are called in messages about all of them. */
export function describeKind(valueType: ValueType): string {
  if (valueType.type === 'enum') return 'an enumeration'
  return valueType.type === 'string' ? 'text' : describeType(valueType)
}

/** What a value of the type is called in messages: "a whole number". */
export function describeType(valueType: ValueType): string {
  switch (valueType.type) {
    case 'string':
      return 'text without NUL characters'
    case 'integer':
    case 'bigint':
      return 'a whole number'
    case 'decimal':
      return 'a decimal number'
    case 'float':
      return 'a number'
    case 'boolean':
      return 'true or false'
    case 'datetime':
      return 'a date-time (ISO 8601)'
    case 'date':
      return 'a date (YYYY-MM-DD)'
    case 'time':
      return 'a time (HH:MM:SS)'
    case 'uuid':
      return 'a UUID'
    case 'enum':
      return `one of ${(valueType.values ?? []).join(', ')}`
    case 'json':
      return 'JSON'
    case 'blob':
      return 'binary data'
  }
}
