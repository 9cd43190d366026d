import type { JsonMembers } from '../../../types/dialect.js'
import type { Field, MemberType } from '../../../types/field.js'
import { jsonMemberOf } from '../../common/jsonMembers.js'
import { DATE_PATTERN, DATETIME_PATTERN, exists } from './dialect.js'

interface Extracted {
  readonly json: string
  readonly text: string
  readonly kind: string
}

/** Writes a member that is compared as a date. The dates are ordered by bytes. */
function dated(pattern: string): (extracted: Extracted) => string {
  return ({ text, kind }) => `CASE WHEN ${kind} = 'string' AND ${text} ~ '${pattern}' THEN ${text} COLLATE "C" END`
}

// Prevents cast errors: limits the digits and the exponent to the range of a double.
const DIGITS = '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$'
const MAX_NUMBER_LENGTH = 700

function isDigits(text: string): string {
  return `WHEN length(${text}) > ${MAX_NUMBER_LENGTH} OR ${text} !~ '${DIGITS}' THEN NULL`
}

function number(...unless: readonly ((exact: string) => string)[]): (extracted: Extracted) => string {
  return ({ text, kind }) => {
    const exact = `${text}::numeric`
    const refused = unless.map((isRefused) => `WHEN ${isRefused(exact)} THEN NULL`).join(' ')
    const isZero = `WHEN ${exact} = 0 THEN 0`
    const fits = `WHEN abs(${exact}) BETWEEN ${Number.MIN_VALUE} AND ${Number.MAX_VALUE} THEN ${text}::float8`
    return `CASE WHEN ${kind} <> 'number' THEN NULL ${isDigits(text)} ${isZero} ${refused} ${fits} END`
  }
}

const VALUES: Readonly<Record<MemberType, (extracted: Extracted) => string>> = {
  string: ({ text, kind }) => `CASE ${kind} WHEN 'string' THEN ${text} END`,
  integer: number(
    (exact) => `abs(${exact}) > ${Number.MAX_SAFE_INTEGER}`,
    (exact) => `${exact} <> trunc(${exact})`,
  ),
  number: number(),
  boolean: ({ text, kind }) => `CASE ${kind} WHEN 'boolean' THEN ${text} = 'true' END`,
  date: dated(DATE_PATTERN),
  datetime: dated(DATETIME_PATTERN),
  array: ({ json, kind }) => `CASE ${kind} WHEN 'array' THEN ${json} END`,
}

// Matches an unescaped escape sequence for NUL, or for an incomplete surrogate pair.
const BROKEN = [
  '(?<!\\\\)(?:\\\\\\\\)*',
  '(?:\\\\u0000',
  '|\\\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\\\u[dD][c-fC-F])',
  '|(?<!(?<!\\\\)(?:\\\\\\\\)*\\\\u[dD][89abAB][0-9a-fA-F]{2})\\\\u[dD][c-fC-F])',
].join('')

function prefixOf({ valueType: { parsed = false } }: Field): 'json' | 'jsonb' {
  return parsed ? 'jsonb' : 'json'
}

/**
 * Writes null instead of JSON that functions cannot read. A JSON column may contain escape sequences that are invalid
 * in text and make every JSON function fail.
 */
function toReadableJson(column: string, of: Field): string {
  return prefixOf(of) === 'jsonb' ? column : `(CASE WHEN ${column}::text ~ '${BROKEN}' THEN NULL ELSE ${column} END)`
}

const TEXT = "(_e._v #>> '{}')"

/**
 * Types of items that a search with `@>` can find by an index. Items of the type `number` are compared as floating
 * point, which treats more numbers as equal than `@>`.
 */
const INDEXED: ReadonlySet<MemberType> = new Set(['string', 'integer', 'boolean', 'date', 'datetime'])

/** Returns the JSON document that contains an array. */
function documentOf(array: Field): Field {
  return jsonMemberOf(array)?.source ?? array
}

/** Whether an array column can contain a value. PostgreSQL rejects integers beyond the range of the item type. */
function canContain({ valueType }: Field, value: unknown): boolean {
  const { min, max } = valueType.arrays?.[0]?.item ?? {}
  if (min === undefined || max === undefined) return true
  const number = BigInt(String(value))
  return number >= min && number <= max
}

/**
 * Writes the condition that an array contains one of the values. PostgreSQL gives an operand without a type the type of
 * the column.
 */
const writeContains: JsonMembers['contains'] = (column, { source, type }, values, sql) => {
  if (type === null)
    return values.every((value) => canContain(source, value)) ? `${column} && ${sql(formatArray(values))}` : null
  const path = jsonMemberOf(source)?.path ?? []
  if (documentOf(source).valueType.parsed !== true || !INDEXED.has(type)) return null
  const parts = values.map((value) => {
    const within = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), [value])
    return `${column} @> ${sql(JSON.stringify(within))}::jsonb`
  })
  return `(${parts.join(' OR ')})`
}

export const postgresMembers: JsonMembers = Object.freeze<JsonMembers>({
  value: (column, { source, path, type }) => {
    const json = toReadableJson(column, source)
    const place = `'{${path.map((name) => `"${name}"`).join(',')}}'`
    const found = `(${json} #> ${place})`
    const kind = `${prefixOf(source)}_typeof(${found})`
    return `(${VALUES[type]({ json: found, text: `(${json} #>> ${place})`, kind })})`
  },
  hasItem: (array, of, condition) => {
    const prefix = prefixOf(of)
    const rows = `SELECT 1 FROM ${prefix}_array_elements(${array}) AS _e(_v)`
    return exists(`${rows} WHERE CASE ${prefix}_typeof(_e._v) WHEN 'string' THEN ${condition(TEXT)} END`)
  },
  items: (array, { source, type }) =>
    type === null ? `unnest(${array}) AS _e(_v)` : `${prefixOf(documentOf(source))}_array_elements(${array}) AS _e(_v)`,
  item: ({ source, type }) => {
    if (type === null) return '_e._v'
    const kind = `${prefixOf(documentOf(source))}_typeof(_e._v)`
    return `(${VALUES[type]({ json: '_e._v', text: TEXT, kind })})`
  },
  // PostgreSQL refuses to compare the functions' INTEGER with a larger number.
  length: (array, { source, type }) => {
    const length = type === null ? 'cardinality' : `${prefixOf(documentOf(source))}_array_length`
    return `${length}(${array})::bigint`
  },
  contains: writeContains,
})

/** Formats values as the text of a PostgreSQL array. */
export function formatArray(values: readonly unknown[]): string {
  return `{${values.map(formatItem).join(',')}}`
}

function formatItem(value: unknown): string {
  const text = Buffer.isBuffer(value)
    ? `\\x${value.toString('hex')}`
    : value instanceof Date
      ? value.toISOString()
      : String(value)
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
