import type { ColumnTypes } from '../../../types/columnTypes.js'
import {
  type ConvertColumn,
  convertForAll,
  convertForComparison,
  createConverter,
  digitsOf,
  INCOMPARABLE,
  nameOf,
  UNCHANGED,
} from './conversions.js'
import { DAY_PATTERN } from './dialect.js'

const TEXTS = new Set(['text', 'character varying', 'character', 'citext', 'name'])
const INTEGERS = new Set(['smallint', 'integer', 'bigint'])
const FLOATS = new Set(['real', 'double precision'])
const NUMBERS = new Set([...INTEGERS, ...FLOATS, 'numeric'])
const INSTANTS = new Set(['timestamp with time zone', 'timestamp without time zone'])

/** Types that cannot be compared with each other. Types of extensions and of the host are not converted. */
const OTHERS = new Set([
  ...[...NUMBERS, ...INSTANTS, 'money', 'boolean', 'date', 'uuid', 'enum', 'bytea', 'json', 'jsonb', 'xml'],
  ...['time without time zone', 'time with time zone', 'interval', 'inet', 'cidr', 'macaddr', 'bit', 'bit varying'],
])

function convertOther(name: string): ReturnType<ConvertColumn> {
  return OTHERS.has(name) || name.endsWith('[]') ? INCOMPARABLE : null
}

/** Converts a column to a number. A text that is not a number sorts after every number. */
function numberOf(column: string): string {
  const isNumber = `${column} ~ '^[[:space:]]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?[[:space:]]*$'`
  return `(CASE WHEN ${isNumber} THEN (${column})::numeric WHEN ${column} IS NOT NULL THEN 'NaN'::numeric END)`
}

/** Converts a column to an instant. A text that is not an instant sorts after every instant. */
function instantOf(column: string): string {
  const time = '([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)? ?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)?)?'
  const isInstant = `${column} ~ '^${DAY_PATTERN}${time}$'`
  return `(CASE WHEN ${isInstant} THEN (${column})::timestamptz WHEN ${column} IS NOT NULL THEN 'infinity'::timestamptz END)`
}

const convertToInteger: ConvertColumn = (type) => {
  const name = nameOf(type)
  if (name === 'numeric' && (digitsOf(type)?.scale ?? 0) > 0) return convertForAll((column) => `round(${column})`)
  // A direct cast of REAL to decimal keeps only six digits.
  if (FLOATS.has(name)) return convertForAll((column) => `round((${column})::float8::numeric)`)
  if (NUMBERS.has(name)) return null
  if (name === 'money') return convertForComparison((column) => `(${column})::numeric`)
  return TEXTS.has(name) ? convertForComparison(numberOf) : convertOther(name)
}

const convertColumn = createConverter({
  string: (type, { binary = false, padded = false }) => {
    const name = nameOf(type)
    if (binary) return TEXTS.has(name) ? convertForComparison((column) => `convert_to(${column}, 'UTF8')`) : null
    // Trailing blanks of a CHAR are not part of its text.
    if (name === 'character' && !padded) return { compare: (column) => column, read: (column) => `(${column})::text` }
    if (TEXTS.has(name)) return null
    return convertForAll(name === 'bytea' ? (column) => `encode(${column}, 'escape')` : (column) => `(${column})::text`)
  },
  integer: convertToInteger,
  bigint: convertToInteger,
  decimal: (type, declared) => {
    const { scale } = declared
    const name = nameOf(type)
    const isExact = scale === undefined || (digitsOf(type)?.scale ?? scale + 1) <= scale
    if (!NUMBERS.has(name)) return convertToInteger(type, declared)
    // Bounds such as NaN are not integers, so the column is compared as a numeric.
    if (INTEGERS.has(name)) return convertForComparison((column) => `(${column})::numeric`)
    if (isExact) return null
    return convertForAll((column) => `round((${column})${FLOATS.has(name) ? '::float8' : ''}::numeric, ${scale})`)
  },
  float: (type, { single = false }) => {
    const name = nameOf(type)
    if (TEXTS.has(name)) return convertForComparison((column) => `${numberOf(column)}::float8`)
    if (name === 'money') return convertForComparison((column) => `(${column})::numeric::float8`)
    if (!NUMBERS.has(name)) return convertOther(name)
    if (!FLOATS.has(name)) return convertForComparison((column) => `(${column})::float8`)
    if (name === 'real') return single ? null : convertForAll((column) => `(${column})::float8`)
    return single ? UNCHANGED : null
  },
  boolean: (type) => {
    const name = nameOf(type)
    if (name === 'boolean') return null
    if (NUMBERS.has(name)) return convertForComparison((column) => `(${column} <> 0)`)
    return TEXTS.has(name) ? convertForAll((column) => `(lower(${column}) IN ('true', 't', '1'))`) : convertOther(name)
  },
  datetime: (type) => {
    const name = nameOf(type)
    if (INSTANTS.has(name)) return null
    if (name === 'date') return convertForComparison((column) => `((${column})::timestamp AT TIME ZONE 'UTC')`)
    return TEXTS.has(name) ? convertForComparison(instantOf) : convertOther(name)
  },
  date: (type) => {
    const name = nameOf(type)
    if (name === 'date') return null
    if (name === 'timestamp without time zone') return convertForComparison((column) => `(${column})::date`)
    if (name === 'timestamp with time zone')
      return convertForComparison((column) => `(${column} AT TIME ZONE 'UTC')::date`)
    return TEXTS.has(name) ? convertForComparison((column) => `left(${column}, 10)`) : convertOther(name)
  },
  time: (type) => {
    const name = nameOf(type)
    if (name === 'time without time zone') return null
    if (name === 'time with time zone') return convertForComparison((column) => `(${column})::time`)
    return TEXTS.has(name) ? convertForComparison((column) => `left(${column}, 8)`) : convertOther(name)
  },
  uuid: (type) => (nameOf(type) === 'uuid' || TEXTS.has(nameOf(type)) ? null : convertOther(nameOf(type))),
  enum: (type) => (nameOf(type) === 'enum' || TEXTS.has(nameOf(type)) ? null : convertOther(nameOf(type))),
})

/** Column types of PostgreSQL. A domain counts as its base type. */
export const postgresTypes: ColumnTypes = Object.freeze<ColumnTypes>({
  select: (tables, textSql) => {
    const rows = tables.map(({ schema, table }, place) => `(${place}, ${textSql(schema)}, ${textSql(table)})`)
    return [
      "SELECT _t.place, a.attname AS name, CASE WHEN b.typtype = 'e' THEN 'enum' ELSE format_type(b.oid,",
      "CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END) END AS type",
      `FROM (VALUES ${rows.join(', ')}) AS _t(place, schema, name)`,
      'JOIN pg_catalog.pg_class c ON c.relname = _t.name JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace',
      'AND (n.nspname = _t.schema OR (_t.schema IS NULL AND pg_catalog.pg_table_is_visible(c.oid)))',
      'JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped',
      'JOIN pg_catalog.pg_type t ON t.oid = a.atttypid',
      "JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END",
    ].join(' ')
  },
  isSpellingPreserved: (type) => nameOf(type) !== 'uuid',
  convert: convertColumn,
})
