import type {
  ComparisonSql,
  Comparisons,
  Dialect,
  OrderKeys,
  TextComparison,
  TextComparisons,
  TextTraits,
  ValueTraits,
} from '../../../types/dialect.js'
import type { Failure } from '../../../types/failures.js'
import type { Field, FieldType } from '../../../types/field.js'
import type { Column, ComparePredicate, CursorValue } from '../../../types/plan.js'
import type { DateUnit } from '../../language/measures.js'
import type { ValueOperator } from '../../language/operators.js'
import { declaredForeignKeysOf } from '../foreignKeys.js'

/** Returns the properties of a text comparison that determine its SQL. */
export function traitsOf(
  { column, ignoreCase }: ComparedColumn,
  { hasFourByteCharacters, isLong }: ValueTraits,
): TextTraits {
  const { binary = false, padded = false } = column.field.valueType
  return { ignoreCase, hasFourByteCharacters, isLong, binary, padded }
}

type ComparedColumn = Pick<ComparePredicate, 'ignoreCase'> & { readonly column: Pick<Column, 'field'> }

/** Maximum length of a text that `contains` searches by LIKE on PostgreSQL. For longer texts `position` is faster. */
const LONG = 64

export function valueTraitsOf(values: readonly unknown[]): ValueTraits {
  return {
    hasFourByteCharacters: values.some((value) => typeof value === 'string' && /[\u{10000}-\u{10ffff}]/u.test(value)),
    isLong: values.some((value) => typeof value === 'string' && value.length > LONG),
  }
}

/** Escapes `%`, `_` and the escape character for LIKE ... ESCAPE '|'. */
function escapeLike(text: string): string {
  return text.replace(/[%_|]/g, '|$&')
}

/** LIKE patterns for escaped text. */
export const LIKE_PATTERNS: Readonly<Record<'contains' | 'startsWith', (text: string) => string>> = Object.freeze({
  contains: (text: string) => `%${escapeLike(text)}%`,
  startsWith: (text: string) => `${escapeLike(text)}%`,
})

/** Writes rows as a UNION, which every version of MySQL supports. */
function writeUnion(names: readonly string[], [first = [], ...others]: readonly (readonly string[])[]): string {
  const named = first.map((value, index) => `${value} AS ${names[index]}`)
  return `(${[named, ...others].map((row) => `SELECT ${row.join(', ')}`).join(' UNION ALL ')})`
}

/** Writes rows as VALUES, which planners read faster than a UNION. SQLite accepts any number of rows in VALUES. */
export function writeValues(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = names.map((name, index) => `column${index + 1} AS ${name}`).join(', ')
  return `(SELECT ${columns} FROM (VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) AS _rows)`
}

export function tuples(rows: readonly (readonly string[])[]): string {
  return `(${rows.map((row) => `(${row.join(', ')})`).join(', ')})`
}

/**
 * Converts keys that were read as text. Integers become numbers, because some databases treat numeric text as inexact.
 * Instants lose the offset of the connection, which MariaDB and older MySQL do not read.
 */
function encodeReadKeys(values: readonly unknown[], { valueType: { type } }: Field): readonly unknown[] {
  const isWhole = type === 'integer' || type === 'bigint'
  const encode = (text: string): unknown => {
    if (isWhole) return BigInt(text)
    return type === 'datetime' ? text.replace(/[+-]\d\d:\d\d$/, '') : text
  }
  return values.map((value) => (typeof value === 'string' ? encode(value) : value))
}

export function exists(rows: string): string {
  return `EXISTS (${rows})`
}

/** Formats of date parts for the functions of MySQL and SQLite. */
export const DATE_FORMATS: Readonly<Record<DateUnit, string>> = Object.freeze({
  year: '%Y',
  month: '%Y-%m',
  day: '%Y-%m-%d',
  hour: '%Y-%m-%dT%H',
})

export function keepText(text: string): string {
  return text
}

function comparisonBy(symbol: string): ComparisonSql {
  return (column, [operand = '']) => `${column} ${symbol} ${operand}`
}

/** Comparisons whose SQL is equal in all databases. */
export const COMPARISONS: Comparisons = Object.freeze({
  eq: comparisonBy('='),
  gt: comparisonBy('>'),
  gte: comparisonBy('>='),
  lt: comparisonBy('<'),
  lte: comparisonBy('<='),
  in: (column, operands) => `${column} IN (${operands.join(', ')})`,
})

type DialectSpecific =
  | 'name'
  | 'tableCatalogue'
  | 'orderTerm'
  | 'textComparisons'
  | 'failures'
  | 'double'
  | 'concat'
  | 'datePart'
  | 'jsonMembers'

/**
 * Capabilities and SQL of a database that follows the standard without extensions. A dialect overrides the differences.
 * Each dialect defines its name, null order, text comparison, date parts and failures.
 */
export const STANDARD: Omit<Dialect, DialectSpecific> = Object.freeze({
  checkOptions: () => null,
  columnType: (declared) => declared,
  preparesBy: null,
  maxValues: Number.POSITIVE_INFINITY,
  returnsInserted: false,
  returnsUpdated: false,
  valuesTable: null,
  rowsSubquery: writeUnion,
  insertKeyword: 'INSERT INTO',
  insertedKeys: null,
  queuesWrites: false,
  readsSnapshots: false,
  lockNumbers: null,
  fixConnections: null,
  interrupt: null,
  maxAliasBytes: Number.POSITIVE_INFINITY,
  jsonAsText: false,
  rejectsRepeatedNames: false,
  readExpression: (column) => column,
  instanceExpression: () => null,
  operand: (placeholder) => placeholder,
  literal: (sql) => sql,
  boolean: (value) => value,
  tuples,
  // If values are part of the SQL text, Sequelize writes an array as comma-separated items.
  inList: { encode: encodeReadKeys, write: (expression, placeholder) => `${expression} IN (${placeholder})` },
  needsNullPartitions: false,
  firstPerParent: { each: null, numbersKeys: true },
  exists,
  hasIndexedExists: true,
  limit: (placeholder) => placeholder,
  orderKeys: {
    term: (column) => column,
    read: (term) => term,
    isExact: ({ valueType: { type } }) => type === 'integer',
    toCursorValue: toCursorValue,
    isComparable: () => true,
    operand: (placeholder) => placeholder,
    hasIndexedRowValues: true,
  },
  valueComparisons: COMPARISONS,
  grouping: (column) => ({ by: column, read: column, order: [column] }),
  sum: (column, field) => {
    const value = `SUM(${column})`
    return { value, read: value, units: sumInUnits(value, field) }
  },
  minMaxOperand: (column) => column,
  instant: (column) => column,
  hasArrays: false,
  fullText: null,
  columnTypes: null,
  foreignKeys: (model) => Promise.resolve(declaredForeignKeysOf(model)),
} satisfies Omit<Dialect, DialectSpecific>)

/** Writes a sum as an integer number of units of the column's last decimal place. */
export function sumInUnits(sum: string, { valueType: { scale = 0 } }: Field): string {
  return scale === 0 ? sum : `(${sum} * ${10 ** scale})`
}

/** Keeps only words with a letter or a digit, because full-text indexes ignore all other words. */
export function omitSymbolWords(words: readonly string[]): readonly string[] {
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word))
}

/**
 * Creates a function that converts sort key values for cursors. Safe integers become numbers, because a computed number
 * would not equal a text.
 */
export function createCursorValueReader(types: ReadonlySet<FieldType>): OrderKeys['toCursorValue'] {
  return (raw, { valueType: { type } }) => {
    const value = toCursorValue(raw)
    const isSafe = typeof value === 'string' && /^-?\d+$/.test(value) && Number.isSafeInteger(Number(value))
    return isSafe && types.has(type) ? Number(value) : value
  }
}

/**
 * Converts a sort key value to a value of a cursor token. Numbers beyond JavaScript's precision stay text. Bytes are
 * not supported.
 */
function toCursorValue(raw: unknown): CursorValue | undefined {
  switch (typeof raw) {
    case 'number':
      return Number.isFinite(raw) ? raw : undefined
    case 'string':
      return raw
    case 'boolean':
      return Number(raw)
    case 'bigint':
      return String(raw)
    default:
      return raw === null || raw === undefined ? null : undefined
  }
}

const LEAP = '([0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29'
const USUAL =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))'
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{3}Z'
/** Excluded year, because databases cannot cast dates of the year 0. */
const NO_YEAR = '0000'
const DATE = `(?!${NO_YEAR})(${LEAP}|${USUAL})`

/** Pattern of a day for PostgreSQL, MySQL and MariaDB. */
export const DAY_PATTERN: string = DATE
/** Patterns of dates and instants in JSON for PostgreSQL, MySQL and MariaDB. */
export const DATE_PATTERN: string = `^${DATE}$`
export const DATETIME_PATTERN: string = `^${DATE}T${TIME}$`

/** Creates map entries for error codes of one failure. */
export function entriesFor<F extends Failure>(failure: F, ...codes: readonly unknown[]): (readonly [unknown, F])[] {
  return codes.map((code) => [code, failure] as const)
}

/** Connection errors of the operating system, for every driver. */
export const NETWORK: readonly string[] = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]

type OrderingOperator = Exclude<ValueOperator, 'eq' | 'in'>

/** Creates the text comparisons of all ordering operators. */
export function createOrderComparisons(
  write: (operator: OrderingOperator) => (how: TextTraits) => TextComparison,
): Pick<TextComparisons, OrderingOperator> {
  return { gt: write('gt'), gte: write('gte'), lt: write('lt'), lte: write('lte') }
}
