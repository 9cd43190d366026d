import type { FilterValue, JsonValue, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { compareToIntegerRange } from '../common/integerRange.js'
import { createMessage } from '../common/messages.js'
import { compareDecimals, readInteger, toDecimal } from '../common/values.js'
import { integerToJson, toJson } from './anyJson.js'
import { decimalBounds, numberBounds } from './bounds.js'
import {
  type Codec,
  conflictOf,
  INEXACT,
  MAX_NUMBER_LENGTH,
  type Reader,
  type RuledField,
  rejectWith,
  toFilterValue,
} from './codec.js'
import { createIntegerReader } from './joi.js'
import { describeSchema, INT64, numberBoundsSchema } from './schema.js'

export const integer: Codec = {
  createBodyReader: createIntegerReader,
  readText: readIntegerFilter,
  readKey: readIntegerKey,
  createDecoder: () => decodeInteger,
  noun: () => 'a whole number',
  findBoundsConflict: (field) => conflictOf(numberBounds(field), (min, max) => Math.ceil(min) > Math.floor(max)),
  schemas: {
    reply: replySchema,
    body: (field) => ({ ...replySchema(field.valueType), ...numberBoundsSchema(numberBounds(field)) }),
  },
  example: () => '10',
}

function replySchema({ max }: ValueType): JsonSchema {
  return { type: 'integer', format: max !== undefined && max < 2n ** 31n ? 'int32' : 'int64' }
}

/** Parses an integer of a filter: a number while it is safe, otherwise its digits. */
function readIntegerFilter(text: string): FilterValue | null {
  const digits = readInteger(text)
  return toFilterValue(digits === null ? null : integerToJson(digits))
}

function readIntegerKey(text: string, valueType: ValueType): string | number | null {
  const digits = text.length > MAX_NUMBER_LENGTH ? null : readInteger(text)
  return digits !== null && digits === text && compareToIntegerRange(valueType, BigInt(digits)) === 0
    ? integerToJson(digits)
    : null
}

function decodeInteger(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'number':
      if (Number.isSafeInteger(raw)) return raw
      return Number.isInteger(raw) ? toDecimal(raw) : toJson(raw)
    case 'bigint':
      return integerToJson(raw.toString())
    case 'string':
      return integerToJson(raw)
    case 'boolean':
      // The mariadb driver reads TINYINT(1) as a boolean.
      return Number(raw)
    default:
      return toJson(raw)
  }
}

export const bigint: Codec = {
  createBodyReader,
  readText: readIntegerFilter,
  readKey: readIntegerKey,
  createDecoder: () => decodeInteger,
  noun: () => 'a whole number',
  findBoundsConflict: (field) => conflictOf(decimalBounds(field), (min, max) => compareDecimals(min, max) > 0),
  schemas: {
    reply: () => ({ anyOf: [INT64, { type: 'string', pattern: '^-?[0-9]+$' }] }),
    body: bodySchema,
    query: INT64,
  },
  example: () => '10',
}

const LARGEST_SAFE = String(Number.MAX_SAFE_INTEGER)

/**
 * Reads a safe JSON integer. Beyond the safe range it reads digits in a string, as in responses, because a larger JSON
 * number has been rounded.
 */
function createBodyReader(field: RuledField): Reader {
  const bounds = decimalBounds(field)
  return (raw) => {
    const digits = typeof raw === 'number' ? integerDigits(raw) : parseUnsafeDigits(raw)
    if (digits === null) return rejectWith(createMessage('integer'))
    if (bounds.min !== undefined && compareDecimals(digits, bounds.min) < 0) return rejectWith(bounds.tooLow)
    if (bounds.max !== undefined && compareDecimals(digits, bounds.max) > 0) return rejectWith(bounds.tooHigh)
    return typeof raw === 'number' && !Number.isSafeInteger(raw) ? rejectWith(INEXACT) : { value: digits }
  }
}

function integerDigits(raw: number): string | null {
  return Number.isInteger(raw) ? toDecimal(raw) : null
}

function parseUnsafeDigits(raw: unknown): string | null {
  const digits = typeof raw === 'string' ? readInteger(raw) : null
  // Accepts only the form of responses: no plus, no leading zeros, and no string for a safe number.
  if (digits === null || digits !== raw) return null
  return compareDecimals(digits.replace('-', ''), LARGEST_SAFE) > 0 ? digits : null
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Returns the schema in bodies: numbers while they are exact in JSON, text beyond. */
function bodySchema(field: RuledField): JsonSchema {
  const { min: low, max: high } = decimalBounds(field)
  const min = roundBound(low ?? '', 'up') ?? -(2n ** 63n)
  const max = roundBound(high ?? '', 'down') ?? 2n ** 63n - 1n
  const [minimum, maximum] = [Number(min < -SAFE ? -SAFE : min), Number(max > SAFE ? SAFE : max)]
  const number: JsonSchema = { ...INT64, minimum, maximum }
  const texts = [
    ...(min < -SAFE ? [`-(?:${digitsPattern(max < -SAFE ? -max : SAFE + 1n, -min)})`] : []),
    ...(max > SAFE ? [`(?:${digitsPattern(min > SAFE ? min : SAFE + 1n, max)})`] : []),
  ]
  if (texts.length === 0) return number
  const text: JsonSchema = { type: 'string', pattern: `^(?:${texts.join('|')})$`, examples: [String(max)] }
  return describeSchema({ anyOf: [number, text] }, 'A number beyond 2^53 is written as a string of digits.')
}

/** Rounds a bound to an integer, because the bound of a rule may be fractional. */
function roundBound(bound: string, direction: 'up' | 'down'): bigint | null {
  if (bound === '') return null
  const [whole = '', fraction = ''] = bound.split('.')
  const cut = BigInt(whole)
  if (fraction === '' || bound.startsWith('-') === (direction === 'up')) return cut
  return direction === 'up' ? cut + 1n : cut - 1n
}

/** Returns a pattern for the canonical digits of the integers from `low` to `high`, which are both positive. */
function digitsPattern(low: bigint, high: bigint): string {
  const alternatives: string[] = []
  for (let from = low; from <= high; ) {
    const last = 10n ** BigInt(from.toString().length) - 1n
    const to = last < high ? last : high
    alternatives.push(...sameLengthPatterns(from.toString(), to.toString()))
    from = to + 1n
  }
  return alternatives.join('|')
}

function sameLengthPatterns(low: string, high: string): readonly string[] {
  const [first, last] = [low.charAt(0), high.charAt(0)]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const [zeros, nines] = ['0'.repeat(lowRest.length), '9'.repeat(lowRest.length)]
  const [isFromZeros, isToNines] = [lowRest === zeros, highRest === nines]
  if (first === last && !(isFromZeros && isToNines)) return prefixPatterns(first, sameLengthPatterns(lowRest, highRest))
  const from = isFromZeros ? first : String(Number(first) + 1)
  const to = isToNines ? last : String(Number(last) - 1)
  const any = ['', '[0-9]'][lowRest.length] ?? `[0-9]{${lowRest.length}}`
  return [
    ...(isFromZeros ? [] : prefixPatterns(first, sameLengthPatterns(lowRest, nines))),
    ...(from <= to ? [(from === to ? from : `[${from}-${to}]`) + any] : []),
    ...(isToNines ? [] : prefixPatterns(last, sameLengthPatterns(zeros, highRest))),
  ]
}

function prefixPatterns(digit: string, alternatives: readonly string[]): readonly string[] {
  const [only = ''] = alternatives
  return [digit + (alternatives.length === 1 ? only : `(?:${alternatives.join('|')})`)]
}
