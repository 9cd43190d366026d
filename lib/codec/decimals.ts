import type { JsonValue, ValueType } from '../../types/field.js'
import type { FieldMessage } from '../../types/messages.js'
import type { JsonSchema } from '../../types/openApi.js'
import { createMessage } from '../common/messages.js'
import {
  compareDecimals,
  countSignificantDigits,
  EXACT_DIGITS,
  readDecimal,
  readScientific,
  toDecimal,
} from '../common/values.js'
import { toJson } from './anyJson.js'
import { type Bounds, decimalBounds, numberBounds } from './bounds.js'
import {
  type Codec,
  conflictOf,
  type Decoder,
  INEXACT,
  MAX_NUMBER_LENGTH,
  type Reader,
  type RuledField,
  rejectWith,
  toFilterValue,
} from './codec.js'
import { createFloatReader } from './joi.js'
import { anyOf, DOUBLE, describeSchema, numberBoundsSchema } from './schema.js'

export const decimal: Codec = {
  createBodyReader,
  readText: (text) => toFilterValue(readDecimal(text)),
  readKey: readDecimalKey,
  createDecoder: ({ jsonType, scale }) =>
    jsonType === 'number' ? decodeDecimalNumber : createDecimalTextDecoder(scale),
  noun: () => 'a decimal number',
  findBoundsConflict: (field) => conflictOf(decimalBounds(field), (min, max) => compareDecimals(min, max) > 0),
  schemas: {
    reply: ({ jsonType }) => (jsonType === 'number' ? DOUBLE : { type: 'string', pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' }),
    body: bodySchema,
    query: { type: 'number' },
  },
  example: () => '10',
}

/** Reads a finite JSON number. If responses have text, it also reads a decimal in a string. */
function createBodyReader(field: RuledField): Reader {
  const { jsonType, scale } = field.valueType
  const bounds = decimalBounds(field)
  const places = createMessage('scale', { scale: scale ?? 0 })
  const otherwise = createMessage(jsonType === 'string' ? 'decimal' : 'number')
  return (raw) => {
    const digits = parseSentDigits(raw, jsonType === 'string')
    if (digits === null) return rejectWith(otherwise)
    if (jsonType === 'string' && typeof raw === 'number' && countSignificantDigits(digits) > EXACT_DIGITS)
      return rejectWith(INEXACT)
    const faults: FieldMessage[] = []
    if (scale !== undefined && countPlaces(digits) > scale) faults.push(places)
    if (bounds.min !== undefined && compareDecimals(digits, bounds.min) < 0) faults.push(bounds.tooLow)
    if (bounds.max !== undefined && compareDecimals(digits, bounds.max) > 0) faults.push(bounds.tooHigh)
    return faults.length === 0 ? { value: digits } : { messages: faults }
  }
}

/** Reads a key. No record has a key with more decimal places than the column. */
function readDecimalKey(text: string, { scale = Number.POSITIVE_INFINITY }: ValueType): string | null {
  if (text.length > MAX_NUMBER_LENGTH) return null
  const digits = isExponential(text) ? readScientific(text) : readDecimal(text)
  return digits === null || countPlaces(digits) > scale ? null : digits
}

/** Returns the number of decimal places of a canonical decimal. */
function countPlaces(digits: string): number {
  return digits.split('.')[1]?.length ?? 0
}

function parseSentDigits(raw: unknown, isText: boolean): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? toDecimal(raw) : null
  return isText && typeof raw === 'string' ? readDecimal(raw) : null
}

function decodeDecimalNumber(raw: unknown): JsonValue {
  if (typeof raw === 'number') return toJson(raw)
  const digits = parseStoredDigits(raw)
  return digits === null ? decodeNonNumber(raw) : Number(digits)
}

/**
 * Decodes decimals to plain text. A declared scale is exact: values are rounded half away from zero, as other databases
 * do. SQLite's 5000 becomes `5000.00`. Without a scale there are no trailing zeros.
 */
function createDecimalTextDecoder(scale: number | undefined): Decoder {
  return (raw) => {
    const digits = parseStoredDigits(raw)
    if (digits === null) return decodeNonNumber(raw)
    return scale === undefined ? digits : roundToScale(digits, scale)
  }
}

export function parseStoredDigits(raw: unknown): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? toDecimal(raw) : null
  if (typeof raw === 'bigint') return raw.toString()
  return typeof raw === 'string' ? (readDecimal(raw) ?? readScientific(raw)) : null
}

function roundToScale(decimal: string, scale: number): string {
  const negative = decimal.startsWith('-')
  const [integral = '0', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.')
  let digits = integral + fraction.slice(0, scale).padEnd(scale, '0')
  if ((fraction[scale] ?? '0') >= '5') digits = (BigInt(digits) + 1n).toString().padStart(scale + 1, '0')
  const sign = negative && /[1-9]/.test(digits) ? '-' : ''
  const point = digits.length - scale
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Returns the JSON of a stored value that is not a number: null for NaN and the infinities. */
export function decodeNonNumber(raw: unknown): JsonValue {
  return typeof raw === 'string' && /^(?:nan|[+-]?infinity)$/i.test(raw) ? null : toJson(raw)
}

function bodySchema({ valueType, rules }: RuledField): JsonSchema {
  const { jsonType, precision, scale = 0, min } = valueType
  const places = precision === undefined ? [] : [`At most ${scale} decimal places.`]
  const number: JsonSchema = { type: 'number', ...decimalBoundsSchema(decimalBounds({ valueType, rules })) }
  if (jsonType === 'number') return describeSchema({ ...number, format: 'double' }, ...places)
  const ruled = [
    ...(rules.min === undefined ? [] : [`At least ${toDecimal(rules.min)}.`]),
    ...(rules.max === undefined ? [] : [`At most ${toDecimal(rules.max)}.`]),
  ]
  const text: JsonSchema = { type: 'string', pattern: decimalPattern(precision, scale, min !== undefined) }
  return describeSchema(
    anyOf([number, text]),
    ...places,
    ...ruled,
    'A number with more than 15 digits is written as a string.',
  )
}

/** Returns the pattern of a decimal. Leading and trailing zeros do not count as digits. */
function decimalPattern(precision: number | undefined, scale: number, isUnsigned: boolean): string {
  const before = precision === undefined ? 0 : precision - scale
  const whole = precision === undefined ? '[0-9]+' : `0*[0-9]{${before > 0 ? '1,' : '0,'}${Math.max(before, 0)}}`
  const fraction = precision === undefined ? '[0-9]+' : scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
  const digits = `(?=[0-9])${whole}(?:\\.${fraction})?`
  return isUnsigned ? `^(?:\\+?${digits}|-0+(?:\\.0+)?)$` : `^[+-]?${digits}$`
}

/**
 * Converts bounds to JSON numbers. A bound without an exact number becomes exclusive if its nearest number lies
 * outside.
 */
function decimalBoundsSchema({ min, max }: Bounds<string>): JsonSchema {
  const compareNearestNumber = (bound: string): number => Math.sign(compareDecimals(toDecimal(Number(bound)), bound))
  return {
    ...(min === undefined ? {} : { [compareNearestNumber(min) < 0 ? 'exclusiveMinimum' : 'minimum']: Number(min) }),
    ...(max === undefined ? {} : { [compareNearestNumber(max) > 0 ? 'exclusiveMaximum' : 'maximum']: Number(max) }),
  }
}

export const float: Codec = {
  createBodyReader: createFloatReader,
  // Numbers beyond the range of a double become infinite.
  readText: (text) => {
    const digits = readDecimal(text)
    return digits === null ? null : toFilterValue(Number(digits))
  },
  readKey: readFloatKey,
  createDecoder: ({ single: isSingle }) => (isSingle === true ? single : double),
  noun: () => 'a number',
  findBoundsConflict: (field) => conflictOf(numberBounds(field), (min, max) => min > max),
  schemas: { reply: () => DOUBLE, body: (field) => ({ ...DOUBLE, ...numberBoundsSchema(numberBounds(field)) }) },
  example: () => '10',
}

function readFloatKey(text: string): number | null {
  if (text.length > MAX_NUMBER_LENGTH) return null
  if (isExponential(text)) return Number(text)
  const digits = readDecimal(text)
  return digits !== null && Number.isFinite(Number(digits)) ? Number(digits) : null
}

/** Whether a text is a JSON number with an exponent: `1e-7`. */
function isExponential(text: string): boolean {
  return /^-?\d(?:\.\d+)?e[+-]\d+$/.test(text) && String(Number(text)) === text
}

function double(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return toJson(raw)
  if (raw.trim() === '') return raw
  const number = Number(raw)
  if (Number.isFinite(number)) return number
  return decodeNonNumber(raw)
}

const LARGEST_SINGLE = 3.4028234663852886e38

/**
 * Decodes a single-precision float, which arrives as an equal double. Returns the shortest number that the column
 * stores as this value.
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
