import type { ColumnTypes } from '../../../types/columnTypes.js'
import {
  type ConvertColumn,
  convertForAll,
  convertForComparison,
  createConverter,
  DIGITS_OF_DOUBLE,
  digitsOf,
  fullTableName,
  INCOMPARABLE,
  UNCHANGED,
} from './conversions.js'

const TEXTS = new Set(['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'])
const BYTES = new Set(['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'])
const INTEGERS = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year', 'bit'])
const FLOATS = new Set(['float', 'double'])
const NUMBERS = new Set([...INTEGERS, ...FLOATS, 'decimal'])
const INSTANTS = new Set(['datetime', 'timestamp'])

/** Types whose values the server cannot compare with other types. Types of plugins are not converted. */
const OTHERS = new Set([...NUMBERS, ...INSTANTS, 'date', 'time', 'json', 'uuid', 'inet4', 'inet6'])

function convertOther(name: string): ReturnType<ConvertColumn> {
  return OTHERS.has(name) ? INCOMPARABLE : null
}

/** Returns the type name of a full type, such as `bigint` of `bigint(20) unsigned`. */
function nameOf(type: string): string {
  return /^\w*/.exec(type.toLowerCase())?.[0] ?? ''
}

function decimalOf(scale: number): (column: string) => string {
  return (column) => `CAST(${column} AS DECIMAL(65, ${scale}))`
}

/** Converts a number to a double. MySQL prints only six digits of a FLOAT, and all digits of a double. */
export function toDouble(column: string): string {
  return `(${column} + 0e0)`
}

/** Converts a column to an instant. A text that is not an instant sorts after every instant. */
function instantOf(column: string): string {
  const instant = `IFNULL(CAST(${column} AS DATETIME(6)), CAST('9999-12-31 23:59:59' AS DATETIME(6)))`
  return `IF(${column} IS NULL, NULL, ${instant})`
}

/** Creates a conversion of numbers and texts to exact decimals, with the decimal places that responses show. */
function exact(scale: number): ConvertColumn {
  return (type) => {
    const name = nameOf(type)
    if (INTEGERS.has(name) || (name === 'decimal' && (digitsOf(type)?.scale ?? 0) <= scale)) return null
    return NUMBERS.has(name) || TEXTS.has(name) ? convertForAll(decimalOf(scale)) : convertOther(name)
  }
}

const convertColumn = createConverter({
  string: (type) => {
    const name = nameOf(type)
    // An enumeration sorts by its declaration order, so it is converted to text.
    if (BYTES.has(name) || (TEXTS.has(name) && name !== 'enum' && name !== 'set')) return null
    if (name === 'bit') return convertForAll((column) => `CAST(${column} + 0 AS CHAR)`)
    // Sorting truncates a text of a floating point number to 22 characters, unless the cast states a length.
    const length = FLOATS.has(name) ? '(64)' : ''
    return convertForAll((column) => `CAST(${column} AS CHAR${length})`)
  },
  integer: exact(0),
  bigint: exact(0),
  decimal: (type, declared) => exact(declared.scale ?? 30)(type, declared),
  float: (type, { single = false }) => {
    const name = nameOf(type)
    if (TEXTS.has(name)) return convertForComparison(toDouble)
    // MySQL prints only six digits of a FLOAT.
    if (name === 'float') return single ? null : convertForAll(toDouble)
    if (!NUMBERS.has(name)) return convertOther(name)
    const isRounded = name === 'decimal' && (digitsOf(type)?.precision ?? 10) > DIGITS_OF_DOUBLE
    if (isRounded || name === 'bigint') return convertForComparison(toDouble)
    return single ? UNCHANGED : null
  },
  boolean: (type) => {
    const name = nameOf(type)
    if (NUMBERS.has(name)) return null
    return TEXTS.has(name) ? convertForAll((column) => `(LOWER(${column}) IN ('true', 't', '1'))`) : convertOther(name)
  },
  datetime: (type) => {
    const name = nameOf(type)
    if (INSTANTS.has(name)) return null
    if (name === 'date') return convertForComparison((column) => `CAST(${column} AS DATETIME)`)
    return TEXTS.has(name) ? convertForComparison(instantOf) : convertOther(name)
  },
  date: (type) => {
    const name = nameOf(type)
    if (name === 'date') return null
    if (INSTANTS.has(name)) return convertForComparison((column) => `DATE(${column})`)
    return TEXTS.has(name) ? convertForComparison((column) => `LEFT(${column}, 10)`) : convertOther(name)
  },
  time: (type) => {
    const name = nameOf(type)
    if (name === 'time') return null
    return TEXTS.has(name) ? convertForComparison((column) => `LEFT(${column}, 8)`) : convertOther(name)
  },
  uuid: (type) => (nameOf(type) === 'uuid' ? null : convertOther(nameOf(type))),
  enum: (type) => convertOther(nameOf(type)),
})

export const mysqlTypes: ColumnTypes = Object.freeze<ColumnTypes>({
  select: (tables, textSql) => {
    const places = tables.map((name, place) => `WHEN ${textSql(fullTableName(name))} THEN ${place}`)
    const names = tables.map((name) => textSql(fullTableName(name)))
    return [
      `SELECT CASE TABLE_NAME ${places.join(' ')} END AS place, COLUMN_NAME AS name, COLUMN_TYPE AS type`,
      `FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${names.join(', ')})`,
    ].join(' ')
  },
  isSpellingPreserved: (type) => nameOf(type) !== 'uuid',
  convert: convertColumn,
})
