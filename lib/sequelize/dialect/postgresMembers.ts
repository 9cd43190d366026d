import type { JsonMembers } from '../../../types/dialect.js'
import type { Field, MemberType } from '../../../types/field.js'
import { DATE_PATTERN, DATETIME_PATTERN, exists } from './dialect.js'

interface Extracted {
  readonly json: string
  readonly text: string
  readonly kind: string
}

/** Ordered by its bytes. */
function dated(pattern: string): (extracted: Extracted) => string {
  return ({ text, kind }) => `CASE WHEN ${kind} = 'string' AND ${text} ~ '${pattern}' THEN ${text} COLLATE "C" END`
}

// So that no cast fails: no more digits than a number has, no larger ones than a double has, and no smaller ones.
const DIGITS = '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$'
const LONGEST = 700

function isDigits(text: string): string {
  return `WHEN length(${text}) > ${LONGEST} OR ${text} !~ '${DIGITS}' THEN NULL`
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

// An escape that is not escaped itself: of NUL, of the first half of a character without the second, or of the second
// without the first.
const BROKEN = [
  '(?<!\\\\)(?:\\\\\\\\)*',
  '(?:\\\\u0000',
  '|\\\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\\\u[dD][c-fC-F])',
  '|(?<!(?<!\\\\)(?:\\\\\\\\)*\\\\u[dD][89abAB][0-9a-fA-F]{2})\\\\u[dD][c-fC-F])',
].join('')

function prefixOf({ valueType: { parsed = false } }: Field): 'json' | 'jsonb' {
  return parsed ? 'jsonb' : 'json'
}

/** JSON as text may say what is no text, by which every function of it would fail, for whoever reads. */
function readable(column: string, of: Field): string {
  return prefixOf(of) === 'jsonb' ? column : `(CASE WHEN ${column}::text ~ '${BROKEN}' THEN NULL ELSE ${column} END)`
}

export const postgresMembers: JsonMembers = Object.freeze<JsonMembers>({
  value: (column, { of, path, type }) => {
    const json = readable(column, of)
    const place = `'{${path.map((name) => `"${name}"`).join(',')}}'`
    const found = `(${json} #> ${place})`
    const kind = `${prefixOf(of)}_typeof(${found})`
    return `(${VALUES[type]({ json: found, text: `(${json} #>> ${place})`, kind })})`
  },
  has: (array, of, condition) => {
    const prefix = prefixOf(of)
    const text = "(_e._v #>> '{}')"
    const rows = `SELECT 1 FROM ${prefix}_array_elements(${array}) AS _e(_v)`
    return exists(`${rows} WHERE CASE ${prefix}_typeof(_e._v) WHEN 'string' THEN ${condition(text)} END`)
  },
})
