import { decimalText } from './decimalText.js'
import { OPERATORS } from './operators.js'

/** Types of values in filters. Dates are written as instants in UTC, and numbers in plain decimal notation. */
export type FilterOperand = string | number | bigint | boolean | Date

/** Texts at the start of a value that would become part of the operator, such as `*` after `=`. */
const CONTINUATIONS: readonly string[] = [
  ...new Set(
    OPERATORS.flatMap(({ token }) =>
      OPERATORS.filter((other) => other.token !== token && other.token.startsWith(token)).map((other) =>
        other.token.slice(token.length),
      ),
    ),
  ),
]

/**
 * Special characters of the filter language. Anywhere: separators and the backslash. At the start: blanks, and texts
 * that would become part of the operator (`=`, `<`, `>`, `*`, `in=`, `out=`). At the end: blanks and `/i`.
 */
const SPECIAL_CHARACTERS = new RegExp(
  String.raw`[\\,|();]|^[ \t\r\n=<>]|^(?=${CONTINUATIONS.map(escapePattern).join('|')})|[ \t\r\n]$|\/(?=i$)`,
  'gi',
)

function escapePattern(text: string): string {
  return text.replace(/[^\w=]/g, '\\$&')
}

/**
 * Escapes a text for use as a value after any operator and in lists: `Name=${escapeFilterValue(name)}`. The empty text
 * stays empty. Text operators and lists reject an empty text.
 */
export function escapeFilterValue(text: string): string {
  if (typeof text !== 'string') throw new TypeError(`escapeFilterValue takes a string, not ${typeof text}`)
  // Without a backslash, the word `null` would test for null.
  return text === 'null' ? '\\null' : text.replace(SPECIAL_CHARACTERS, '\\$&')
}

/**
 * Writes a value as filter text. @throws TypeError for a value that cannot be compared. The message has the name of the
 * field
 */
export function valueText(value: FilterOperand, field: string): string {
  switch (typeof value) {
    case 'string':
      return escapeFilterValue(value)
    case 'number':
      if (!Number.isFinite(value)) throw incomparableError(field, value)
      return decimalText(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return instantText(value, field)
  }
}

function instantText(value: Date, field: string): string {
  // Callers without types may pass null, undefined or any object.
  const given: unknown = value
  if (!(given instanceof Date) || Number.isNaN(given.getTime())) throw incomparableError(field, given)
  return given.toISOString()
}

function incomparableError(field: string, what: unknown): TypeError {
  return new TypeError(`a filter cannot compare ${field} with ${what}`)
}
