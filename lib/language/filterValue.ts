import { OPERATORS } from './operators.js'

/** The types of values in filters. Dates are written as instants in UTC, numbers in plain decimal notation. */
export type FilterOperand = string | number | bigint | boolean | Date

/** The texts that would extend another operator when they follow it: `*` after `=`. */
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
 * The characters with a meaning in the filter language. Anywhere: separators and the backslash. At the start: blanks,
 * and texts that would extend or repeat the operator (`=`, `<`, `>`, `*`, `in=`, `out=`). At the end: blanks and `/i`.
 */
const SPECIAL_CHARACTERS = new RegExp(
  String.raw`[\\,|();]|^[ \t\r\n=<>]|^(?=${CONTINUATIONS.map(escapePattern).join('|')})|[ \t\r\n]$|\/(?=i$)`,
  'gi',
)

function escapePattern(text: string): string {
  return text.replace(/[^\w=]/g, '\\$&')
}

/**
 * Escapes a text for use as a value after any operator and in lists: `Name=${escapeFilterValue(name)}`. The empty
 * string stays empty, which text operators and lists refuse.
 */
export function escapeFilterValue(text: string): string {
  if (typeof text !== 'string') throw new TypeError(`escapeFilterValue takes a string, not ${typeof text}`)
  // The unescaped word would test for null.
  return text === 'null' ? '\\null' : text.replace(SPECIAL_CHARACTERS, '\\$&')
}

/** A value as filter text. @throws TypeError for a value that cannot be compared, with the name of the field */
export function valueText(value: FilterOperand, field: string): string {
  switch (typeof value) {
    case 'string':
      return escapeFilterValue(value)
    case 'number':
      return decimalText(value, field)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return instantText(value, field)
  }
}

/**
 * The shortest digits that parse to the same number, without an exponent, which the filter language does not support.
 */
function decimalText(value: number, field: string): string {
  if (!Number.isFinite(value)) throw incomparableError(field, value)
  const [digits = '', exponent] = String(Math.abs(value)).split('e')
  if (exponent === undefined) return String(value)
  const [whole = '', fraction = ''] = digits.split('.')
  const point = whole.length + Number(exponent)
  const all = whole + fraction
  const sign = value < 0 ? '-' : ''
  return point > 0 ? `${sign}${all.padEnd(point, '0')}` : `${sign}0.${'0'.repeat(-point)}${all}`
}

function instantText(value: Date, field: string): string {
  // Untyped callers may pass null, undefined or any object.
  const given: unknown = value
  if (!(given instanceof Date) || Number.isNaN(given.getTime())) throw incomparableError(field, given)
  return given.toISOString()
}

function incomparableError(field: string, what: unknown): TypeError {
  return new TypeError(`a filter cannot compare ${field} with ${what}`)
}
