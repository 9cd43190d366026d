import type { JsonValue } from '../../types/field.js'
import type { Told } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { fault } from '../common/messages.js'
import {
  compareDecimals,
  decimalOf,
  EXACT_DIGITS,
  readDecimal,
  readScientific,
  significantDigits,
} from '../common/values.js'
import { jsonOf } from './anyJson.js'
import { type Bounds, decimalBounds, numberBounds } from './bounds.js'
import {
  type Codec,
  type Decoder,
  faulty,
  gap,
  INEXACT,
  LONGEST_NUMBER,
  operand,
  type Reader,
  type RuledField,
} from './codec.js'
import { floatReader } from './joi.js'
import { anyOf, bounded, DOUBLE, told } from './schema.js'

export const decimal: Codec = {
  body,
  text: (text) => operand(readDecimal(text)),
  key: (text) => (text.length > LONGEST_NUMBER ? null : readDecimal(text)),
  json: ({ wire, scale }) => (wire === 'number' ? decimalNumber : decimalText(scale)),
  noun: () => 'a decimal number',
  gap: (field) => gap(decimalBounds(field), (min, max) => compareDecimals(min, max) > 0),
  schemas: {
    reply: ({ wire }) => (wire === 'number' ? DOUBLE : { type: 'string', pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' }),
    body: bodySchema,
    query: { type: 'number' },
  },
  example: () => '10',
}

/** Reads a finite JSON number or, if responses have text, a decimal in a string. */
function body(field: RuledField): Reader {
  const { wire, scale } = field.valueType
  const bounds = decimalBounds(field)
  const places = fault('scale', { scale: scale ?? 0 })
  const otherwise = fault(wire === 'string' ? 'decimal' : 'number')
  return (raw) => {
    const digits = givenDigits(raw, wire === 'string')
    if (digits === null) return faulty(otherwise)
    if (wire === 'string' && typeof raw === 'number' && significantDigits(digits) > EXACT_DIGITS) return faulty(INEXACT)
    const faults: Told[] = []
    if (scale !== undefined && (digits.split('.')[1] ?? '').length > scale) faults.push(places)
    if (bounds.min !== undefined && compareDecimals(digits, bounds.min) < 0) faults.push(bounds.tooLow)
    if (bounds.max !== undefined && compareDecimals(digits, bounds.max) > 0) faults.push(bounds.tooHigh)
    return faults.length === 0 ? { value: digits } : { faults }
  }
}

function givenDigits(raw: unknown, isText: boolean): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? decimalOf(raw) : null
  return isText && typeof raw === 'string' ? readDecimal(raw) : null
}

function decimalNumber(raw: unknown): JsonValue {
  if (typeof raw === 'number') return jsonOf(raw)
  const digits = storedDigits(raw)
  return digits === null ? notANumber(raw) : Number(digits)
}

/**
 * Writes decimals as plain text. A declared scale is exact, with values rounded half away from zero as other databases
 * do: SQLite's 5000 becomes `5000.00`. Without a scale there are no trailing zeros.
 */
function decimalText(scale: number | undefined): Decoder {
  return (raw) => {
    const digits = storedDigits(raw)
    if (digits === null) return notANumber(raw)
    return scale === undefined ? digits : withScale(digits, scale)
  }
}

export function storedDigits(raw: unknown): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? decimalOf(raw) : null
  if (typeof raw === 'bigint') return raw.toString()
  return typeof raw === 'string' ? (readDecimal(raw) ?? readScientific(raw)) : null
}

function withScale(decimal: string, scale: number): string {
  const negative = decimal.startsWith('-')
  const [integral = '0', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.')
  let digits = integral + fraction.slice(0, scale).padEnd(scale, '0')
  if ((fraction[scale] ?? '0') >= '5') digits = (BigInt(digits) + 1n).toString().padStart(scale + 1, '0')
  const sign = negative && /[1-9]/.test(digits) ? '-' : ''
  const point = digits.length - scale
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The JSON of a stored value that is not a number: null for NaN and the infinities. */
export function notANumber(raw: unknown): JsonValue {
  return typeof raw === 'string' && /^(?:nan|[+-]?infinity)$/i.test(raw) ? null : jsonOf(raw)
}

function bodySchema({ valueType, rules }: RuledField): JsonSchema {
  const { wire, precision, scale = 0, min } = valueType
  const places = precision === undefined ? [] : [`At most ${scale} decimal places.`]
  const number: JsonSchema = { type: 'number', ...decimalBounded(decimalBounds({ valueType, rules })) }
  if (wire === 'number') return told({ ...number, format: 'double' }, ...places)
  const ruled = [
    ...(rules.min === undefined ? [] : [`At least ${decimalOf(rules.min)}.`]),
    ...(rules.max === undefined ? [] : [`At most ${decimalOf(rules.max)}.`]),
  ]
  const text: JsonSchema = { type: 'string', pattern: decimalPattern(precision, scale, min !== undefined) }
  return told(anyOf([number, text]), ...places, ...ruled, 'More than 15 digits as text.')
}

/** Leading and trailing zeros are not counted. */
function decimalPattern(precision: number | undefined, scale: number, isUnsigned: boolean): string {
  const before = precision === undefined ? 0 : precision - scale
  const whole = precision === undefined ? '[0-9]+' : `0*[0-9]{${before > 0 ? '1,' : '0,'}${Math.max(before, 0)}}`
  const fraction = precision === undefined ? '[0-9]+' : scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
  const digits = `(?=[0-9])${whole}(?:\\.${fraction})?`
  return isUnsigned ? `^(?:\\+?${digits}|-0+(?:\\.0+)?)$` : `^[+-]?${digits}$`
}

/** Bounds as JSON numbers. A bound without an exact number becomes exclusive if its nearest number lies outside. */
function decimalBounded({ min, max }: Bounds<string>): JsonSchema {
  const sideOf = (bound: string): number => Math.sign(compareDecimals(decimalOf(Number(bound)), bound))
  return {
    ...(min === undefined ? {} : { [sideOf(min) < 0 ? 'exclusiveMinimum' : 'minimum']: Number(min) }),
    ...(max === undefined ? {} : { [sideOf(max) > 0 ? 'exclusiveMaximum' : 'maximum']: Number(max) }),
  }
}

export const float: Codec = {
  body: floatReader,
  // Infinite for values beyond every column.
  text: (text) => {
    const digits = readDecimal(text)
    return digits === null ? null : operand(Number(digits))
  },
  key: readFloatKey,
  json: ({ single: isSingle }) => (isSingle === true ? single : double),
  noun: () => 'a number',
  gap: (field) => gap(numberBounds(field), (min, max) => min > max),
  schemas: { reply: () => DOUBLE, body: (field) => ({ ...DOUBLE, ...bounded(numberBounds(field)) }) },
  example: () => '10',
}

function readFloatKey(text: string): number | null {
  if (text.length > LONGEST_NUMBER) return null
  if (isExponential(text)) return Number(text)
  const digits = readDecimal(text)
  return digits !== null && Number.isFinite(Number(digits)) ? Number(digits) : null
}

/** Whether a text is a JSON number with an exponent: `1e-7`. */
function isExponential(text: string): boolean {
  return /^-?\d(?:\.\d+)?e[+-]\d+$/.test(text) && String(Number(text)) === text
}

function double(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return jsonOf(raw)
  if (raw.trim() === '') return raw
  const number = Number(raw)
  if (Number.isFinite(number)) return number
  return notANumber(raw)
}

const LARGEST_SINGLE = 3.4028234663852886e38

/**
 * A single-precision float arrives as an equal double. Returns the shortest number that the column stores as the same
 * value.
 */
function single(raw: unknown): JsonValue {
  const number = double(raw)
  if (typeof number !== 'number' || Math.fround(number) !== number) return number
  for (let digits = 1; digits < 10; digits++) {
    const shorter = Number(number.toPrecision(digits))
    if (Math.fround(shorter) === number && Math.abs(shorter) <= LARGEST_SINGLE) return shorter
  }
  return number
}
