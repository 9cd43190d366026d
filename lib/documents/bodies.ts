import type { Field, FieldType, LongestTime, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { NO_SEGMENTS } from '../common/segment.js'
import { compareDecimals, decimalOf } from '../common/values.js'
import { type Bounds, decimalBounds, lengthBounds, numberBounds } from '../compile/bounds.js'
import { digitsBetween } from './digits.js'
import { integerFormat } from './replies.js'
import { anyOf, told } from './schema.js'

// Calendar days of the years 0001 to 9999, 29 February in leap years only.
const DAY =
  '(?!0000)(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
const MINUTES = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const INSTANT = `^${DAY}(?:[Tt ]${MINUTES}(?::[0-5][0-9](?:\\.[0-9]{1,9})?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::[0-5][0-9])?)?)?$`
const UUID = '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$'
// Four letters are three bytes; what is left over at the end has no bits but its own.
const BASE64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'
const EMAIL = '^[^\\s@]+@[^\\s@.]+(?:\\.[^\\s@.]+)+$'

/** What a body may hold for a field, in all that can be told of it without asking the service; null left out. */
const BODIES: Readonly<Record<FieldType, (field: Field, parts: number) => JsonSchema>> = {
  string: text,
  integer: ({ valueType, rules }) => ({
    type: 'integer',
    format: integerFormat(valueType),
    ...bounded(numberBounds(valueType, rules)),
  }),
  bigint,
  decimal,
  float: ({ valueType, rules }) => ({ type: 'number', format: 'double', ...bounded(numberBounds(valueType, rules)) }),
  boolean: () => ({ type: 'boolean' }),
  datetime: () => ({
    type: 'string',
    pattern: INSTANT,
    description: 'A date-time of ISO 8601, of the years 0001 to 9999 in UTC, which it is in without an offset.',
    examples: ['2026-01-31T08:30:00Z'],
  }),
  date: () => ({ type: 'string', format: 'date', pattern: `^${DAY}$` }),
  time: ({ valueType: { longest } }) => ({ type: 'string', pattern: timePattern(longest), examples: ['08:30:00'] }),
  uuid: () => ({ type: 'string', format: 'uuid', pattern: UUID }),
  enum: ({ valueType: { values = [] } }) => ({ type: 'string', enum: [...values] }),
  json,
  blob: ({ valueType: { maxLength } }) => ({
    type: 'string',
    contentEncoding: 'base64',
    pattern: BASE64,
    ...(maxLength === undefined ? {} : { maxLength: 4 * Math.ceil(maxLength / 3) }),
  }),
}

function timePattern(longest: LongestTime | undefined): string {
  const usual = `${MINUTES}(?::[0-5][0-9])?`
  if (longest === undefined) return `^${usual}$`
  if (!longest.isSigned) return `^(?:${usual}|24:00(?::00)?)$`
  return '^-?(?:[0-9]{2}|[0-7][0-9]{2}|8(?:[0-2][0-9]|3[0-8])):[0-5][0-9](?::[0-5][0-9])?$'
}

/** The schema of a field's value in bodies, null left out. `parts` is how many fields the key has. */
export function bodyOf(field: Field, parts: number): JsonSchema {
  return BODIES[field.valueType.type](field, parts)
}

function bounded({ min, max }: Bounds<number>): JsonSchema {
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) }
}

/** Texts that are no part of a path; joined by `~` the dots are. */
const NO_KEYS: JsonSchema = { not: { enum: [...NO_SEGMENTS] } }
const NO_PARTS: JsonSchema = { not: { const: '' } }

function text(field: Field, parts: number): JsonSchema {
  const { valueType, rules, isKey } = field
  const { min, max } = lengthBounds(valueType, rules)
  const patterns = rules.match ?? []
  const portable = patterns.filter(isPortable)
  const padded = valueType.padded === true
  const own = [
    ...(padded ? [padding(min ?? 0, max)] : []),
    ...(rules.email === true ? [EMAIL] : []),
    ...portable.map(({ source }) => source),
  ]
  const [first, ...others] = own
  const schema: JsonSchema = {
    type: 'string',
    ...(padded || min === undefined ? {} : { minLength: min }),
    ...(padded || max === undefined ? {} : { maxLength: max }),
    ...(first === undefined ? {} : { pattern: first }),
    ...(others.length === 0 ? {} : { allOf: others.map((pattern) => ({ pattern })) }),
    ...(isKey ? (parts > 1 ? NO_PARTS : NO_KEYS) : {}),
    ...(rules.email === true ? { examples: ['name@example.com'] } : {}),
  }
  const unsaid = patterns.filter((pattern) => !portable.includes(pattern))
  return told(schema, ...unsaid.map((pattern) => `Must match \`${pattern}\`.`))
}

/** Blanks at the end of a CHAR are no part of the value, and do not count. */
function padding(min: number, max: number | undefined): string {
  const most = max === undefined ? '' : max - 1
  const least = Math.max(min - 1, 0)
  const value = `[\\s\\S]{${least},${most}}[^ ]`
  return min > 0 ? `^${value} *$` : `^(?:${value})? *$`
}

/** A pattern without flags that means the same to whoever reads JSON Schema, which takes Unicode for granted. */
function isPortable({ source, flags }: RegExp): boolean {
  if (flags.replace(/[ud]/g, '') !== '') return false
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Numbers as far as JSON numbers are exact, and text beyond. */
function bigint({ valueType, rules }: Field): JsonSchema {
  const { min: low, max: high } = decimalBounds(valueType, rules)
  const min = wholeFrom(low ?? '', 'up') ?? -(2n ** 63n)
  const max = wholeFrom(high ?? '', 'down') ?? 2n ** 63n - 1n
  const number: JsonSchema = {
    type: 'integer',
    format: 'int64',
    minimum: Number(min < -SAFE ? -SAFE : min),
    maximum: Number(max > SAFE ? SAFE : max),
  }
  const texts = [
    ...(min < -SAFE ? [`-(?:${digitsBetween(max < -SAFE ? -max : SAFE + 1n, -min)})`] : []),
    ...(max > SAFE ? [`(?:${digitsBetween(min > SAFE ? min : SAFE + 1n, max)})`] : []),
  ]
  if (texts.length === 0) return number
  const text: JsonSchema = { type: 'string', pattern: `^(?:${texts.join('|')})$`, examples: [String(max)] }
  return told({ anyOf: [number, text] }, 'Beyond 2^53 the digits as text.')
}

/** A bound of rules need not be whole itself. */
function wholeFrom(bound: string, direction: 'up' | 'down'): bigint | null {
  if (bound === '') return null
  const [whole = '', fraction = ''] = bound.split('.')
  const cut = BigInt(whole)
  if (fraction === '') return cut
  const isNegative = bound.startsWith('-')
  if (direction === 'up') return isNegative ? cut : cut + 1n
  return isNegative ? cut - 1n : cut
}

function decimal({ valueType, rules }: Field): JsonSchema {
  const { wire, precision, scale = 0, min } = valueType
  const bounds = decimalBounds(valueType, rules)
  const places = precision === undefined ? [] : [`At most ${scale} decimal places.`]
  const number: JsonSchema = { type: 'number', ...decimalBounded(bounds) }
  if (wire === 'number') return told({ ...number, format: 'double' }, ...places)
  const ruled = [
    ...(rules.min === undefined ? [] : [`At least ${decimalOf(rules.min)}.`]),
    ...(rules.max === undefined ? [] : [`At most ${decimalOf(rules.max)}.`]),
  ]
  const text: JsonSchema = { type: 'string', pattern: decimalPattern(precision, scale, min !== undefined) }
  return told(anyOf([number, text]), ...places, ...ruled, 'More than 15 digits as text.')
}

/** Zeros in front and at the end say nothing, so that they do not count. */
function decimalPattern(precision: number | undefined, scale: number, isUnsigned: boolean): string {
  const whole =
    precision === undefined
      ? '[0-9]+'
      : `0*[0-9]{${precision - scale > 0 ? '1,' : '0,'}${Math.max(precision - scale, 0)}}`
  const fraction = precision === undefined ? '[0-9]+' : scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
  const digits = `(?=[0-9])${whole}(?:\\.${fraction})?`
  return isUnsigned ? `^(?:\\+?${digits}|-0+(?:\\.0+)?)$` : `^[+-]?${digits}$`
}

/** Bounds as numbers. One that is none exactly, and lies beyond, is not among the values. */
function decimalBounded({ min, max }: Bounds<string>): JsonSchema {
  const isBeyond = (bound: string, side: 1 | -1): boolean =>
    Math.sign(compareDecimals(decimalOf(Number(bound)), bound)) === side
  return {
    ...(min === undefined ? {} : { [isBeyond(min, -1) ? 'exclusiveMinimum' : 'minimum']: Number(min) }),
    ...(max === undefined ? {} : { [isBeyond(max, 1) ? 'exclusiveMaximum' : 'maximum']: Number(max) }),
  }
}

const ANY = { not: { type: 'null' } }

const FORMS: Readonly<Record<NonNullable<ValueType['form']>, JsonSchema>> = {
  text: { type: 'string' },
  array: { type: 'array', items: {} },
  range: { type: 'array', items: {}, maxItems: 2, not: { minItems: 1, maxItems: 1 }, description: 'No bounds or two.' },
  geometry: {
    type: 'object',
    required: ['type'],
    properties: {
      type: {
        enum: [
          ...['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'],
          'GeometryCollection',
        ],
      },
    },
    description: 'A GeoJSON geometry (RFC 7946).',
  },
}

function json({ valueType: { form } }: Field): JsonSchema {
  return form === undefined ? { ...ANY, description: 'Any JSON.' } : FORMS[form]
}
