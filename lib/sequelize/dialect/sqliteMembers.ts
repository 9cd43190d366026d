import type { JsonMembers } from '../../../types/dialect.js'
import type { MemberType } from '../../../types/field.js'
import { exists } from './dialect.js'
import { DAY } from './sqliteInstants.js'

interface Extracted {
  readonly value: string
  readonly kind: string
}

const TIME = '[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9]'

/**
 * Writes a member as a date, if its text has the form of a date and a conversion keeps the text. The conversion changes
 * an invalid date to another date or null. The year 0 is invalid.
 */
function dated(pattern: string, same: (value: string) => string): (extracted: Extracted) => string {
  return ({ value, kind }) =>
    `CASE WHEN ${kind} = 'text' AND ${value} GLOB '${pattern}' AND ${value} >= '0001' AND ${same(value)} = ${value} THEN ${value} END`
}

const isNumberSql = ({ kind }: Extracted): string => `${kind} IN ('integer', 'real')`

const VALUES: Readonly<Record<MemberType, (extracted: Extracted) => string>> = {
  string: ({ value, kind }) => `CASE ${kind} WHEN 'text' THEN ${value} END`,
  integer: (extracted) => {
    const real = `CAST(${extracted.value} AS REAL)`
    // A number beyond the integer range changes when it is converted back.
    const whole = `CAST(${extracted.value} AS INTEGER)`
    return `CASE WHEN ${isNumberSql(extracted)} AND abs(${real}) <= ${Number.MAX_SAFE_INTEGER} AND ${real} = ${whole} THEN ${whole} END`
  },
  number: (extracted) => {
    const real = `CAST(${extracted.value} AS REAL)`
    return `CASE WHEN ${isNumberSql(extracted)} AND abs(${real}) <= ${Number.MAX_VALUE} THEN ${real} END`
  },
  boolean: ({ kind }) => `CASE ${kind} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`,
  date: dated(DAY, (value) => `date(${value})`),
  datetime: dated(`${DAY}T${TIME}Z`, (value) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${value})`),
  array: ({ value, kind }) => `CASE ${kind} WHEN 'array' THEN ${value} END`,
}

export const sqliteMembers: JsonMembers = Object.freeze<JsonMembers>({
  value: (column, { path, type }) => {
    const place = `'$${path.map((name) => `."${name}"`).join('')}'`
    // The column is text, and another program may have written invalid JSON.
    const json = `CASE WHEN json_valid(${column}) THEN ${column} END`
    return `(${VALUES[type]({ value: `json_extract(${json}, ${place})`, kind: `json_type(${json}, ${place})` })})`
  },
  hasItem: (array, _, condition) =>
    `+${exists(`SELECT 1 FROM json_each(${array}) AS _e WHERE _e.type = 'text' AND ${condition('_e.value')}`)}`,
  items: (array) => `json_each(${array}) AS _e`,
  item: ({ type }) => (type === null ? '_e.value' : `(${VALUES[type]({ value: '_e.value', kind: '_e.type' })})`),
  length: (array) => `json_array_length(${array})`,
  contains: () => null,
})
