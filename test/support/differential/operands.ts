// Generates operands, and different spellings of a value in the filter language.

import fc, { type Arbitrary } from 'fast-check'
import type { Column, Value } from './schema.js'
import { neighbours, storedValues } from './values.js'

/** Operand of a comparison: the value, and its text before it is escaped. */
export type Operand =
  | { readonly kind: 'null' }
  | { readonly kind: 'value'; readonly value: Value; readonly text: string }
  /**
   * A day without a time, compared with a date-time. The day matches from its first millisecond up to, but excluding,
   * `end`.
   */
  | { readonly kind: 'day'; readonly start: number; readonly end: number; readonly text: string }

const DAY = 86_400_000

/** Decimal digits of a number, without an exponent, because the filter language has no exponents. */
function digitsOf(number: number): string {
  const [mantissa = '', exponent] = String(Math.abs(number)).split('e')
  const sign = number < 0 || Object.is(number, -0) ? '-' : ''
  if (exponent === undefined) return sign + mantissa
  const [whole = '', fraction = ''] = mantissa.split('.')
  const point = whole.length + Number(exponent)
  const digits = whole + fraction
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return sign + digits.padEnd(point, '0').slice(0, point) + (digits.length > point ? `.${digits.slice(point)}` : '')
}

function numbers(digits: string): string[] {
  return digits.startsWith('-') ? [digits, `-0${digits.slice(1)}`] : [digits, `+${digits}`, `00${digits}`]
}

function moments(at: number): string[] {
  const iso = new Date(at).toISOString()
  const local = iso.slice(0, -1)
  const spellings = [iso, local, local.replace('T', ' '), iso.replace('T', 't').replace('Z', 'z'), `${local}+00`]
  // A spelling with an offset of two and a half hours, if the year keeps four digits.
  const away = new Date(at + 9_000_000)
  if (away.getTime() < Date.parse('9999-12-31')) spellings.push(`${away.toISOString().slice(0, -1)}+02:30`)
  if (at % 1000 === 0) spellings.push(`${iso.slice(0, 19)}Z`, iso.slice(0, 19))
  if (at % 60_000 === 0) spellings.push(iso.slice(0, 16))
  return spellings
}

/** All spellings of a value. */
function spellings({ kind }: Column, value: Value): [string, ...string[]] {
  const text = String(value)
  switch (kind) {
    case 'integer':
      return [text, ...numbers(text)]
    case 'decimal':
      return [text, ...numbers(text), `${text}00`, text.replace(/\.?0+$/, '')]
    case 'float':
      return [digitsOf(Number(value)), ...numbers(digitsOf(Number(value)))]
    case 'boolean':
    case 'enum':
    case 'uuid':
      return [text, text.toUpperCase(), text.toLowerCase()]
    case 'datetime':
      return [new Date(Number(value)).toISOString(), ...moments(Number(value))]
    case 'time':
      return text.endsWith(':00') ? [text, text.slice(0, 5)] : [text]
    default:
      return [text]
  }
}

/** Generates a stored value of the column, or a value close to a stored value. */
export function operandOf(column: Column, known: readonly Value[]): Arbitrary<Operand> {
  const own = known.length === 0 ? storedValues(column) : fc.constantFrom(...known)
  const value = fc.oneof(
    { weight: 6, arbitrary: own },
    { weight: 3, arbitrary: own.chain((at) => fc.constantFrom(at, ...neighbours(column, at))) },
    { weight: 1, arbitrary: storedValues(column) },
  )
  const written = value.chain((at) =>
    fc.constantFrom(...spellings(column, at)).map((text): Operand => ({ kind: 'value', value: at, text })),
  )
  return column.kind === 'datetime' ? fc.oneof(written, value.map(dayOf)) : written
}

function dayOf(value: Value): Operand {
  const text = new Date(Number(value)).toISOString().slice(0, 10)
  const start = Date.parse(text)
  return { kind: 'day', start, end: start + DAY, text }
}

/** Operand of a stored value, in its plain spelling. */
export function exactOperand(value: Value): Operand {
  return { kind: 'value', value, text: String(value) }
}
