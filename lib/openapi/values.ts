import type { Documented } from '../../types/documented.js'
import type { Field, FieldType, LongestTime, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import { isArray, memberIn } from '../common/members.js'
import { NO_SEGMENTS } from '../common/segment.js'
import { compareDecimals, decimalOf } from '../common/values.js'
import { type Bounds, decimalBounds, lengthBounds, numberBounds } from '../compile/bounds.js'
import { withChecks } from './checks.js'
import { componentName } from './components.js'
import type { Subject } from './subjects.js'

// ---------------------------------------------------------------- schemas

export const TEXT: JsonSchema = { type: 'string' }
const NULL: JsonSchema = { type: 'null' }

export type Members = Readonly<Record<string, JsonSchema>>

/** The schema without keywords that are undefined. */
export function defined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

/** The schema with null: never a reference with siblings, and no enumeration that lacks it. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values, $ref } = schema
  if ($ref !== undefined) return { anyOf: [schema, NULL] }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] }
  const { not: _, ...others } = schema
  if (type === undefined) return others
  const types = [...new Set([type, 'null'].flat())]
  return { ...schema, type: types, ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}) }
}

export function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas
  return first !== undefined && others.length === 0 ? first : { anyOf: schemas }
}

/** An object with these members. Those that are not optional are required. */
export function objectOf(properties: Members, optional: ReadonlySet<string> | 'all' = new Set()): JsonSchema {
  const required = optional === 'all' ? [] : Object.keys(properties).filter((name) => !optional.has(name))
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties }
}

export function arrayOf(items: JsonSchema, maxItems?: number): JsonSchema {
  return defined({ type: 'array', items, maxItems })
}

/** The schema with more sentences in its description. */
export function told(schema: JsonSchema, ...sentences: readonly string[]): JsonSchema {
  const all = [schema.description ?? [], sentences].flat()
  return all.length === 0 ? schema : { ...schema, description: all.join(' ') }
}

// ---------------------------------------------------------------- types

/** Schemas of a type's values, without null. */
interface ValueRow {
  /** In replies. No rules: rows from before a rule keep none, and neither do masked values. */
  readonly reply: (valueType: ValueType) => JsonSchema
  /** In bodies. Default: as in replies. `parts` is the number of fields of the key. */
  readonly body?: (field: Field, parts: number) => JsonSchema
  /** In URLs. Default: as in replies. */
  readonly query?: JsonSchema
  /** A value in the filter language. */
  readonly filter?: string
}

const DOUBLE: JsonSchema = { type: 'number', format: 'double' }
const INT64: JsonSchema = { type: 'integer', format: 'int64' }
const DATE: JsonSchema = { type: 'string', format: 'date' }
const UUID: JsonSchema = { type: 'string', format: 'uuid' }
const BYTES: JsonSchema = { type: 'string', contentEncoding: 'base64' }

// Calendar days of the years 0001 to 9999, 29 February in leap years only.
const DAY =
  '(?!0000)(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
const MINUTES = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const INSTANT = `^${DAY}(?:[Tt ]${MINUTES}(?::[0-5][0-9](?:\\.[0-9]{1,9})?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::[0-5][0-9])?)?)?$`
// Four letters are three bytes; what is left over at the end has no bits but its own.
const BASE64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$'
const EMAIL = '^[^\\s@]+@[^\\s@.]+(?:\\.[^\\s@.]+)+$'

const VALUES: Readonly<Record<FieldType, ValueRow>> = {
  string: { reply: () => TEXT, body: text, filter: 'a' },
  integer: {
    reply: ({ max }) => ({ type: 'integer', format: max !== undefined && max < 2n ** 31n ? 'int32' : 'int64' }),
    body: ({ valueType, rules }) => ({ ...replyOf(valueType), ...bounded(numberBounds(valueType, rules)) }),
    filter: '10',
  },
  bigint: {
    reply: () => ({ anyOf: [INT64, { type: 'string', pattern: '^-?[0-9]+$' }] }),
    body: bigint,
    query: INT64,
    filter: '10',
  },
  decimal: {
    reply: ({ wire }) => (wire === 'number' ? DOUBLE : { type: 'string', pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' }),
    body: decimal,
    query: { type: 'number' },
    filter: '10',
  },
  float: {
    reply: () => DOUBLE,
    body: ({ valueType, rules }) => ({ ...DOUBLE, ...bounded(numberBounds(valueType, rules)) }),
    filter: '10',
  },
  boolean: { reply: () => ({ type: 'boolean' }), filter: 'true' },
  datetime: {
    reply: ({ anyYear }) => dated({ type: 'string', format: 'date-time' }, anyYear, 'T.*Z'),
    body: () => ({
      type: 'string',
      pattern: INSTANT,
      description: 'A date-time of ISO 8601, of the years 0001 to 9999 in UTC, which it is in without an offset.',
      examples: ['2026-01-31T08:30:00Z'],
    }),
    query: { type: 'string', description: 'A date-time of ISO 8601, or a day.' },
    filter: '2026-01-31',
  },
  date: {
    reply: ({ anyYear }) => dated(DATE, anyYear, ''),
    body: () => ({ ...DATE, pattern: `^${DAY}$` }),
    query: DATE,
    filter: '2026-01-31',
  },
  time: {
    reply: ({ longest }) => time(`^${longest?.isSigned === true ? '-?[0-9]{2,3}' : '[0-9]{2}'}:[0-9]{2}:[0-9]{2}$`),
    body: ({ valueType: { longest } }) => time(timePattern(longest)),
    query: TEXT,
    filter: '08:30:00',
  },
  uuid: {
    reply: () => UUID,
    body: () => ({ ...UUID, pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' }),
    filter: '00000000-0000-4000-8000-000000000000',
  },
  enum: { reply: ({ values = [] }) => ({ type: 'string', enum: [...values] }) },
  json: { reply: () => ({ description: 'Any JSON.' }), body: json, query: {} },
  blob: {
    reply: () => BYTES,
    body: ({ valueType: { maxLength: bytes } }) =>
      defined({ ...BYTES, pattern: BASE64, maxLength: bytes === undefined ? bytes : 4 * Math.ceil(bytes / 3) }),
    query: {},
  },
}

/** The schema of a value in replies, without null. */
export function replyOf(valueType: ValueType): JsonSchema {
  return VALUES[valueType.type].reply(valueType)
}

/** The schema of a field's value in bodies, without null. `parts` is the number of fields of the key. */
export function bodyOf(field: Field, parts: number): JsonSchema {
  const schema = VALUES[field.valueType.type].body?.(field, parts) ?? replyOf(field.valueType)
  return withChecks(schema, field)
}

export function queryOf(valueType: ValueType): JsonSchema {
  return VALUES[valueType.type].query ?? replyOf(valueType)
}

/** A value of a type in the filter language; empty if filters take none. */
export function filterValueOf({ type, values = [] }: ValueType): string {
  return type === 'enum' ? (values[0] ?? '') : (VALUES[type].filter ?? '')
}

function bounded({ min, max }: Bounds<number>): JsonSchema {
  return defined({ minimum: min, maximum: max })
}

/** Years beyond four digits, and before the year 1, have ISO 8601's expanded form. */
function dated(usual: JsonSchema, anyYear: boolean | undefined, clock: string): JsonSchema {
  const expanded = { type: 'string', pattern: `^[+-][0-9]{6}-[0-9]{2}-[0-9]{2}${clock}$` }
  return anyYear === true ? { anyOf: [usual, expanded] } : usual
}

function time(pattern: string): JsonSchema {
  return { type: 'string', pattern, examples: ['08:30:00'] }
}

function timePattern(longest: LongestTime | undefined): string {
  const usual = `${MINUTES}(?::[0-5][0-9])?`
  if (longest === undefined) return `^${usual}$`
  if (!longest.isSigned) return `^(?:${usual}|24:00(?::00)?)$`
  return '^-?(?:[0-9]{2}|[0-7][0-9]{2}|8(?:[0-2][0-9]|3[0-8])):[0-5][0-9](?::[0-5][0-9])?$'
}

// ---------------------------------------------------------------- text

function text({ valueType, rules, isKey }: Field, parts: number): JsonSchema {
  const { min, max } = lengthBounds(valueType, rules)
  const patterns = rules.match ?? []
  const portable = patterns.filter(isPortable)
  const [padded, email] = [valueType.padded === true, rules.email === true]
  const [pattern, ...others] = [
    ...(padded ? [padding(min ?? 0, max)] : []),
    ...(email ? [EMAIL] : []),
    ...portable.map(({ source }) => source),
  ]
  const schema = defined({
    type: 'string',
    ...(padded ? {} : { minLength: min, maxLength: max }),
    pattern,
    allOf: others.length === 0 ? undefined : others.map((other) => ({ pattern: other })),
    // Dots and the empty text are no part of a path; joined by `~` the dots are.
    ...(isKey ? { not: parts > 1 ? { const: '' } : { enum: [...NO_SEGMENTS] } } : {}),
    examples: email ? ['name@example.com'] : undefined,
  })
  const unsaid = patterns.filter((each) => !portable.includes(each))
  return told(schema, ...unsaid.map((each) => `Must match \`${each}\`.`))
}

/** Blanks at the end of a CHAR are no part of the value, and do not count. */
function padding(min: number, max: number | undefined): string {
  const value = `[\\s\\S]{${Math.max(min - 1, 0)},${max === undefined ? '' : max - 1}}[^ ]`
  return min > 0 ? `^${value} *$` : `^(?:${value})? *$`
}

/** Whether a pattern has no flags and means the same in JSON Schema, whose patterns are Unicode. */
function isPortable({ source, flags }: RegExp): boolean {
  if (flags.replace(/[ud]/g, '') !== '') return false
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

// ---------------------------------------------------------------- numbers

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Numbers as far as JSON numbers are exact, and text beyond. */
function bigint({ valueType, rules }: Field): JsonSchema {
  const { min: low, max: high } = decimalBounds(valueType, rules)
  const min = wholeFrom(low ?? '', 'up') ?? -(2n ** 63n)
  const max = wholeFrom(high ?? '', 'down') ?? 2n ** 63n - 1n
  const [minimum, maximum] = [Number(min < -SAFE ? -SAFE : min), Number(max > SAFE ? SAFE : max)]
  const number: JsonSchema = { ...INT64, minimum, maximum }
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
  if (fraction === '' || bound.startsWith('-') === (direction === 'up')) return cut
  return direction === 'up' ? cut + 1n : cut - 1n
}

function decimal({ valueType, rules }: Field): JsonSchema {
  const { wire, precision, scale = 0, min } = valueType
  const places = precision === undefined ? [] : [`At most ${scale} decimal places.`]
  const number: JsonSchema = { type: 'number', ...decimalBounded(decimalBounds(valueType, rules)) }
  if (wire === 'number') return told({ ...number, format: 'double' }, ...places)
  const ruled = [
    ...(rules.min === undefined ? [] : [`At least ${decimalOf(rules.min)}.`]),
    ...(rules.max === undefined ? [] : [`At most ${decimalOf(rules.max)}.`]),
  ]
  const text: JsonSchema = { type: 'string', pattern: decimalPattern(precision, scale, min !== undefined) }
  return told(anyOf([number, text]), ...places, ...ruled, 'More than 15 digits as text.')
}

/** Zeros in front and at the end do not count. */
function decimalPattern(precision: number | undefined, scale: number, isUnsigned: boolean): string {
  const before = precision === undefined ? 0 : precision - scale
  const whole = precision === undefined ? '[0-9]+' : `0*[0-9]{${before > 0 ? '1,' : '0,'}${Math.max(before, 0)}}`
  const fraction = precision === undefined ? '[0-9]+' : scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
  const digits = `(?=[0-9])${whole}(?:\\.${fraction})?`
  return isUnsigned ? `^(?:\\+?${digits}|-0+(?:\\.0+)?)$` : `^[+-]?${digits}$`
}

/** Bounds as numbers. A bound that no number has exactly, and whose number lies beyond, is exclusive. */
function decimalBounded({ min, max }: Bounds<string>): JsonSchema {
  const sideOf = (bound: string): number => Math.sign(compareDecimals(decimalOf(Number(bound)), bound))
  return {
    ...(min === undefined ? {} : { [sideOf(min) < 0 ? 'exclusiveMinimum' : 'minimum']: Number(min) }),
    ...(max === undefined ? {} : { [sideOf(max) > 0 ? 'exclusiveMaximum' : 'maximum']: Number(max) }),
  }
}

/** A pattern for the canonical digits of the whole numbers from `low` to `high`, both from zero. */
function digitsBetween(low: bigint, high: bigint): string {
  const alternatives: string[] = []
  for (let from = low; from <= high; ) {
    const last = 10n ** BigInt(from.toString().length) - 1n
    const to = last < high ? last : high
    alternatives.push(...sameLength(from.toString(), to.toString()))
    from = to + 1n
  }
  return alternatives.join('|')
}

function sameLength(low: string, high: string): readonly string[] {
  const [first, last] = [low.charAt(0), high.charAt(0)]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const [zeros, nines] = ['0'.repeat(lowRest.length), '9'.repeat(lowRest.length)]
  const [isFromZeros, isToNines] = [lowRest === zeros, highRest === nines]
  if (first === last && !(isFromZeros && isToNines)) return prefixed(first, sameLength(lowRest, highRest))
  const from = isFromZeros ? first : String(Number(first) + 1)
  const to = isToNines ? last : String(Number(last) - 1)
  const any = ['', '[0-9]'][lowRest.length] ?? `[0-9]{${lowRest.length}}`
  return [
    ...(isFromZeros ? [] : prefixed(first, sameLength(lowRest, nines))),
    ...(from <= to ? [(from === to ? from : `[${from}-${to}]`) + any] : []),
    ...(isToNines ? [] : prefixed(last, sameLength(zeros, highRest))),
  ]
}

function prefixed(digit: string, alternatives: readonly string[]): readonly string[] {
  const [only = ''] = alternatives
  return [digit + (alternatives.length === 1 ? only : `(?:${alternatives.join('|')})`)]
}

// ---------------------------------------------------------------- JSON

const GEOMETRIES = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon']

const FORMS: Readonly<Record<NonNullable<ValueType['form']>, JsonSchema>> = {
  text: TEXT,
  array: { type: 'array', items: {} },
  range: { type: 'array', items: {}, maxItems: 2, not: { minItems: 1, maxItems: 1 }, description: 'No bounds or two.' },
  geometry: {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: [...GEOMETRIES, 'GeometryCollection'] } },
    description: 'A GeoJSON geometry (RFC 7946).',
  },
}

function json({ valueType: { form } }: Field): JsonSchema {
  return form === undefined ? { not: { type: 'null' }, description: 'Any JSON.' } : FORMS[form]
}

// ---------------------------------------------------------------- fields

/** Fields and the declared members of their documents, which are named by their paths. */
export function withMembers(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const pathOf = (member: Field): string => [field.json, ...(memberIn(member)?.path ?? [])].join('.')
    return [field, ...[...(field.members?.values() ?? [])].map((member) => ({ ...member, json: pathOf(member) }))]
  })
}

export function kindOf(field: Field): FieldType | 'array' {
  return isArray(field) ? 'array' : field.valueType.type
}

/** The permissions that fields need, and the fields that a schema of the host describes. */
export type Masking = Pick<Documented, 'masks' | 'hosted'>

/** A field in a reply. */
export function shownIn(subject: Subject, field: Field, { masks, hosted }: Masking): JsonSchema {
  const read = masks.get(field.name)?.read ?? null
  const isWritten = field.targets.has('create') || field.targets.has('update')
  // A schema of the host does not know the bounds of the column.
  const isHosted = hosted.has(field.json) && field.valueType.type === 'integer'
  const value = isHosted ? INT64 : shownAs(field)
  const own = field.nullable || field.virtual || read !== null ? nullable(value) : value
  return sharedValue(
    subject,
    field,
    { ...own, ...(isWritten ? {} : { readOnly: true }), ...permissionOf(read) },
    'Value',
  )
}

/**
 * The schema of a field's value, as a component where fields of its type have the same. Generators read `readOnly` and
 * permissions beside a member, and name the type of an enumeration after its member.
 */
export function sharedValue(
  { components }: Subject,
  field: Field,
  schema: JsonSchema,
  use: 'Value' | 'Input',
): JsonSchema {
  const { type } = field.valueType
  const isOwn = type === 'enum' || schema.readOnly === true || schema['x-permission'] !== undefined
  return isOwn ? schema : components.share('schemas', componentName(type) + use, schema)
}

/** The value of a host's getter is unknown. */
export function shownAs(field: Field): JsonSchema {
  return field.getter ? { description: 'As the application makes it.' } : replyOf(field.valueType)
}

export function permissionOf(permission: string | null = null): JsonSchema {
  return permission === null ? {} : { 'x-permission': permission }
}

/** A key in paths, bulk requests and replies. */
export function keyOf({ resource: { key, keys } }: Subject): JsonSchema {
  if (keys.length === 1) return replyOf(key.valueType)
  return { type: 'string', description: 'The parts, percent-encoded and joined by `~`.' }
}
