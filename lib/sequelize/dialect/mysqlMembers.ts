import type { JsonMembers } from '../../../types/dialect.js'
import type { MemberType } from '../../../types/field.js'
import { DATE_PATTERN, DATETIME_PATTERN, exists } from './dialect.js'

/** Writes a JSON string as text with the collation of JSON, independent of the table's collation. */
function unquoteText(json: string): string {
  return `CONVERT(JSON_UNQUOTE(${json}) USING utf8mb4) COLLATE utf8mb4_bin`
}

function kind(json: string): string {
  return `JSON_TYPE(${json})`
}

function dated(pattern: string): (json: string) => string {
  return (json) =>
    `CASE WHEN ${kind(json)} = 'STRING' AND ${unquoteText(json)} REGEXP '${pattern}' THEN ${unquoteText(json)} END`
}

function number(json: string): string {
  return `(JSON_UNQUOTE(${json}) + 0e0)`
}

function isNumber(json: string): string {
  return `${kind(json)} IN ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')`
}

const VALUES: Readonly<Record<MemberType, (json: string) => string>> = {
  string: (json) => `CASE ${kind(json)} WHEN 'STRING' THEN ${unquoteText(json)} END`,
  integer: (json) =>
    `CASE WHEN ${isNumber(json)} AND ABS(${number(json)}) <= ${Number.MAX_SAFE_INTEGER} AND ${number(json)} = FLOOR(${number(json)}) THEN ${number(json)} END`,
  number: (json) => `CASE WHEN ${isNumber(json)} THEN ${number(json)} END`,
  boolean: (json) => `CASE ${kind(json)} WHEN 'BOOLEAN' THEN (JSON_UNQUOTE(${json}) = 'true') END`,
  date: dated(DATE_PATTERN),
  datetime: dated(DATETIME_PATTERN),
  array: (json) => `CASE ${kind(json)} WHEN 'ARRAY' THEN ${json} END`,
}

function itemsTableOf(array: string): string {
  return `JSON_TABLE(${array}, '$[*]' COLUMNS (_v LONGTEXT PATH '$', _j JSON PATH '$')) AS _e`
}

export const mysqlMembers: JsonMembers = Object.freeze<JsonMembers>({
  value: (column, { path, type }) => {
    const place = `'$${path.map((name) => `."${name}"`).join('')}'`
    return `(${VALUES[type](`JSON_EXTRACT(${column}, ${place})`)})`
  },
  hasItem: (array, _, condition) => {
    return exists(`SELECT 1 FROM ${itemsTableOf(array)} WHERE JSON_TYPE(_e._j) = 'STRING' AND ${condition('_e._v')}`)
  },
  items: itemsTableOf,
  item: ({ type }) => (type === null ? '_e._v' : `(${VALUES[type]('_e._j')})`),
  length: (array) => `JSON_LENGTH(${array})`,
  contains: () => null,
})
