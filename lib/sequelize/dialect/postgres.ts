import type {
  Dialect,
  DriverOptions,
  FullText,
  TextComparison,
  TextComparisons,
  TextTraits,
} from '../../../types/dialect.js'
import type { DriverError, Failure, Failures, Refusal } from '../../../types/failures.js'
import type { Bound, Field, ValueType } from '../../../types/field.js'
import type { DateUnit } from '../../language/measures.js'
import type { ValueOperator } from '../../language/operators.js'
import {
  COMPARISONS,
  createOrderComparisons,
  entriesFor,
  keepText,
  LIKE_PATTERNS,
  NETWORK,
  omitSymbolWords,
  STANDARD,
  sumInUnits,
  writeValues,
} from './dialect.js'
import { formatArray, postgresMembers } from './postgresMembers.js'
import { postgresTypes } from './postgresTypes.js'
import { postgresValuesTable } from './postgresValuesTable.js'
import { postgresTables } from './tableCatalogues.js'

/**
 * Casts a column to plain text, without the case folding of CITEXT, the padding of CHAR or a folding collation. On
 * other columns the planner ignores the cast and can use indexes.
 */
function castToText(column: string): string {
  return `${column}::text COLLATE "default"`
}

function foldCase(column: string): string {
  return `lower(${column})`
}

/** Column and operands in the form of a comparison: folded text, bytes, or plain text. */
interface Sides {
  readonly left: (column: string) => string
  readonly right: (operand: string) => string
  readonly areBytes: boolean
}

function createSides({ ignoreCase, binary }: TextTraits): Sides {
  if (ignoreCase) {
    // The argument 'UTF8' has the type `name`, whose collation folds ASCII only. COLLATE replaces that collation.
    const decodeBytes = (column: string): string => `convert_from(${column}, 'UTF8') COLLATE "default"`
    const writeLeft = (column: string): string => foldCase(binary ? decodeBytes(column) : castToText(column))
    return { left: writeLeft, right: foldCase, areBytes: false }
  }
  if (!binary) return { left: castToText, right: keepText, areBytes: false }
  // Bytes as text would be parsed as BYTEA literals, in which backslashes are escapes.
  return { left: keepText, right: bytes, areBytes: true }
}

function bytes(expression: string): string {
  return `convert_to(${expression}, 'UTF8')`
}

type WriteComparison = (left: string, right: string) => string

function like(left: string, pattern: string): string {
  return `${left} LIKE ${pattern} ESCAPE '|'`
}

// Comparing bytes is much faster than comparing characters.
const isIn: WriteComparison = (left, right) => `position(${right} in ${left}) > 0`
const isInText: WriteComparison = (left, right) => isIn(bytes(left), bytes(right))
const endsText: WriteComparison = (left, right) => `right(${left}, length(${right})) = ${right}`
const endsBytes: WriteComparison = (left, right) => `substr(${left}, length(${left}) - length(${right}) + 1) = ${right}`

function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return (how) => {
    const { left, right, areBytes } = createSides(how)
    if (how.ignoreCase || areBytes) return createComparison(operator, left, right)
    return {
      encode: keepText,
      write: (column, operands) => {
        const unpadded = how.padded ? operands.map((operand) => `concat(${operand})`) : operands
        // The first comparison lets the database use an index. If both comparisons are equal, the planner drops the
        // second.
        return `(${compare(column, operands)} AND ${compare(castToText(column), unpadded)})`
      },
    }
  }
}

function createComparison(operator: ValueOperator, left: Sides['left'], right: Sides['right']): TextComparison {
  return { encode: keepText, write: (column, operands) => COMPARISONS[operator](left(column), operands.map(right)) }
}

/** Creates a comparison that searches within a text. `encode` may convert the searched value to a pattern. */
function createSearch(written: WriteComparison, { left, right }: Sides, encode = keepText): TextComparison {
  return { encode, write: (column, [operand = '']) => written(left(column), right(operand)) }
}

const textComparisons: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  ...createOrderComparisons((operator) => (how) => {
    const { left, right, areBytes } = createSides(how)
    return how.ignoreCase || areBytes
      ? createComparison(operator, left, right)
      : { encode: keepText, write: COMPARISONS[operator] }
  }),
  contains: (how) => {
    const sides = createSides(how)
    if (sides.areBytes) return createSearch(isIn, sides)
    return how.isLong ? createSearch(isInText, sides) : createSearch(like, sides, LIKE_PATTERNS.contains)
  },
  startsWith: (how) => createSearch(like, createSides(how), LIKE_PATTERNS.startsWith),
  // `right` and `substr` compare once, but LIKE would try the suffix at every position.
  endsWith: (how) => {
    const sides = createSides(how)
    return createSearch(sides.areBytes ? endsBytes : endsText, sides)
  },
}

/** Full-text search with the `simple` configuration, without a language. The host's index must use the same expression. */
const fullText: FullText = {
  // Quotes turn off the query operators "or" and minus. Other characters would make the parser detect tags. In the text,
  // `km/h` is one word, so slashes stay.
  encode: (words) => {
    const quoted = omitSymbolWords(words).map((word) => `"${word.replace(/[^\p{L}\p{M}\p{N}.@_'/-]/gu, ' ')}"`)
    return quoted.length === 0 ? null : quoted.join(' ')
  },
  write: (columns, operand) => {
    const text = columns.map((column) => `coalesce(${column}, '')`).join(" || ' ' || ")
    return `to_tsvector('simple', ${text}) @@ websearch_to_tsquery('simple', ${operand})`
  },
}

const DATE_FORMATS: Readonly<Record<DateUnit, string>> = {
  year: 'YYYY',
  month: 'YYYY-MM',
  day: 'YYYY-MM-DD',
  hour: 'YYYY-MM-DD"T"HH24',
}

/** Rejects options under which escaped text could end its literal, or under which `pg` does not parse values. */
function refuse({ standardConformingStrings, binary }: DriverOptions): string | null {
  if (standardConformingStrings === false)
    return 'standardConformingStrings must not be false, because the escaping of Sequelize would allow SQL injection'
  return binary ? 'dialectOptions.binary must not be set, because Sequelize reads values as text' : null
}

/**
 * Whether JavaScript may round a number type. Numbers of these types are read as text, whatever parsers the host sets,
 * such as `parseInt8`.
 */
function isLong({ type }: ValueType): boolean {
  return type === 'bigint' || type === 'decimal'
}

/** Returns the expression that reads long numbers as text, or their arrays as texts; null for other columns. */
function readLong(column: string, { valueType }: Pick<Field, 'valueType'>): string | null {
  if (isLong(valueType)) return `${column}::text`
  const array = valueType.form === 'array' ? valueType.arrays?.[0] : undefined
  return array !== undefined && isLong(array.item) ? `${column}::text[]` : null
}

const INSTANTS: readonly Bound[] = Object.freeze([
  { operator: 'gt', value: '-infinity' },
  { operator: 'lt', value: 'infinity' },
])

/** Bound that excludes NaN, which sorts after all numbers. A NUMERIC with a precision cannot store infinities. */
const NUMBERS: readonly Bound[] = Object.freeze([{ operator: 'lt', value: 'NaN' }])
/** Bounds that exclude infinities, and NaN, which sorts after Infinity. */
const FLOATS: readonly Bound[] = Object.freeze([
  { operator: 'gt', value: '-Infinity' },
  { operator: 'lt', value: 'Infinity' },
])

function boundsOf({ type, precision }: ValueType): readonly Bound[] | undefined {
  if (type === 'datetime' || type === 'date') return INSTANTS
  if (type === 'float') return FLOATS
  if (type !== 'decimal') return undefined
  return precision === undefined ? FLOATS : NUMBERS
}

/** Returns the traits of dates and instants. A TIMESTAMP has microseconds. */
function dated(type: ValueType['type']): Pick<ValueType, 'hasAnyYear' | 'hasMoreDigits'> {
  if (type === 'datetime') return { hasAnyYear: true, hasMoreDigits: true }
  return type === 'date' ? { hasAnyYear: true } : {}
}

/**
 * Returns the type that a declared column has on PostgreSQL. Sequelize drops UNSIGNED. FLOAT has eight bytes, and REAL
 * has four.
 */
function column({ single: _, real, ...declared }: ValueType): ValueType {
  const { type, min, max } = declared
  const shown = boundsOf(declared)
  if (shown !== undefined)
    return { ...declared, responseBounds: shown, ...(real === true ? { single: true } : {}), ...dated(type) }
  if (type === 'time') return { ...declared, hasMoreDigits: true, longestTime: { hours: 24, isSigned: false } }
  const isUnsigned = (type === 'integer' || type === 'bigint') && min === 0n && max !== undefined
  return isUnsigned ? { ...declared, max: max >> 1n } : declared
}

/** Sorts an enumeration by its text instead of its declaration order. */
function termOf(column: string, enumeration: boolean): string {
  return enumeration ? `${column}::text` : column
}

const CODES: Failures['codes'] = new Map<unknown, Failure>([
  // Deadlock, serialization failure.
  ...entriesFor('deadlock', '40P01', '40001'),
  // A prepared statement is missing, or exists already. The transaction is restarted without named statements.
  ...entriesFor('deadlock', '26000', '42P05'),
  // Lock timeout, idle or transaction timeout, read-only standby.
  ...entriesFor('unavailable', '55P03', '25P03', '25P04', '25006', ...NETWORK),
  ...entriesFor('foreignKey', '23503', '23001'),
  ...entriesFor('exclusion', '23P01'),
  // RAISE EXCEPTION of the host's triggers.
  ...entriesFor('databaseRule', 'P0001'),
  // Value for a generated column.
  ...entriesFor('databaseRule', '428C9'),
  ...entriesFor('checkConstraint', '23514'),
  ...entriesFor('unique', '23505'),
  ...entriesFor('notNull', '23502'),
  // WITH CHECK OPTION of a view, from any function.
  ...entriesFor('databaseRule', '44000'),
])

const CLASSES: Failures['sqlStateClasses'] = [
  // Data exceptions.
  [/^22[0-9A-Z]{3}$/, 'dataException'],
  // Exceeded program limits.
  [/^54[0-9A-Z]{3}$/, 'tooLarge'],
  // Connection exceptions except protocol violations, transaction rollback, insufficient resources, operator intervention such as a
  // cancelled statement.
  [/^(?:08(?!P01)|40|53|57)[0-9A-Z]{3}$/, 'unavailable'],
  // Classes that the standard and PostgreSQL do not use. Procedural languages raise them.
  [/^(?:45|[689I-OQ-WYZ][0-9A-Z])[0-9A-Z]{3}$/, 'databaseRule'],
]

/**
 * Distinguishes row policies and RAISE from missing privileges and mistakes in SQL. The routine name does not depend on
 * the server's language.
 */
function classifyRefusal({ code, routine }: DriverError): Refusal | null {
  if (routine === 'ExecWithCheckOptions') return code === '42501' ? 'rowSecurity' : 'databaseRule'
  if (routine !== 'exec_stmt_raise') return null
  const isKnown = CODES.has(code) || CLASSES.some(([pattern]) => pattern.test(String(code)))
  return isKnown ? null : 'databaseRule'
}

/** Failures whose texts are translated, by the code and the function of the server that reports them. */
const REPORTED: ReadonlyMap<string, Failure> = new Map<string, Failure>([
  // For more than 65,535 parameters, the driver sends a wrong parameter count.
  ['08P01 exec_bind_message', 'tooLarge'],
  // The result type of a prepared statement has changed.
  ['0A000 RevalidateCachedQuery', 'deadlock'],
  // Syntax errors in texts of TSVECTOR and LTREE. Mistakes in SQL have the same code.
  ['42601 prssyntaxerror', 'dataException'],
  ['42601 gettoken_tsvector', 'dataException'],
  ['42601 parse_ltree', 'dataException'],
])

const failures: Failures = {
  classifyRaised: (error) => REPORTED.get(`${error.code} ${error.routine}`) ?? classifyRefusal(error),
  codes: CODES,
  // A standby, or a former primary that is read-only.
  wrongServerCodes: new Set<unknown>(['25006']),
  // PgBouncer reports all errors as protocol violations, without a routine name.
  sqlStateOf: ({ code, routine, severity }) =>
    code === '08P01' && severity === 'FATAL' && routine === undefined ? '08000' : code,
  sqlStateClasses: CLASSES,
  messagePatterns: [],
  classifyUnique: () => 'unique',
  nullColumn: ({ column }) => column,
  parseUniqueViolation: ({ detail = '' }) => {
    const listed = /\((.+?)\)=\(/.exec(detail.replaceAll('"', ''))?.[1]
    return listed === undefined ? {} : { columns: listed.split(', ') }
  },
  // From version 18 on, RESTRICT has a separate code. Older versions use one code for missing and for still referenced
  // rows, with different texts.
  parseForeignKeyViolation: ({ code, detail = '', table }) => ({
    isReferenced: code === '23001' || detail.includes('is still referenced'),
    table,
    columns: /\((.+?)\)=\(/.exec(detail)?.[1]?.replaceAll('"', '').split(', ') ?? [],
  }),
}

export const postgres: Dialect = Object.freeze<Dialect>({
  ...STANDARD,
  name: 'postgres',
  checkOptions: refuse,
  columnType: column,
  preparesBy: 'name',
  // Declares the type of a number, because the server would otherwise use the column's type and fail for larger numbers.
  operand: (placeholder, { valueType: { type } }) =>
    type === 'integer' || type === 'bigint' ? `${placeholder}::bigint` : placeholder,
  maxValues: 65_535,
  rowsSubquery: writeValues,
  returnsInserted: true,
  returnsUpdated: true,
  valuesTable: postgresValuesTable,
  tableCatalogue: postgresTables,
  interrupt: { kill: null },
  maxAliasBytes: 63,
  readExpression: (column, field) => readLong(column, field) ?? column,
  instanceExpression: readLong,
  needsNullPartitions: true,
  // Sort key values of all types are text. The server converts the text to the type of the compared column.
  orderKeys: {
    ...STANDARD.orderKeys,
    term: termOf,
    read: (term) => `${term}::text`,
    toCursorValue: (raw) => (raw === null || raw === undefined ? null : String(raw)),
    isComparable: (value) => typeof value === 'string',
  },
  // An array literal has no type. The server gives it the type of the compared expression.
  inList: {
    encode: formatArray,
    write: (expression, placeholder) => `${expression} = ANY(${placeholder})`,
  },
  firstPerParent: {
    numbersKeys: false,
    each: ({ placeholder, field, key }, of) => {
      const type = field.valueType.type === 'uuid' ? 'uuid' : 'bigint'
      const parents = `unnest(${placeholder}::${type}[]) AS _each(owner)`
      return `SELECT _first.${key} FROM ${parents} CROSS JOIN LATERAL (${of('_each.owner')}) AS _first`
    },
  },
  // PostgreSQL sorts nulls last in ascending order. NULLS FIRST or LAST on a column without nulls would prevent the use
  // of its index.
  orderTerm: (column, direction, { nullable, enumeration }) => {
    const term = `${termOf(column, enumeration)} ${direction === 'asc' ? 'ASC' : 'DESC'}`
    return nullable ? `${term} NULLS ${direction === 'asc' ? 'FIRST' : 'LAST'}` : term
  },
  textComparisons,
  grouping: (column, { valueType: { type, binary = false } }) => {
    // Bytes compare exactly, and old versions have no min() of bytes.
    if (type !== 'string' || binary) return { by: column, read: column, order: [column] }
    const exact = `(${castToText(column)})`
    return { by: exact, read: exact, order: [`MIN(${column})`, exact] }
  },
  sum: (column, field) => {
    const { type } = field.valueType
    if (type === 'float') {
      const value = `SUM(${column}::float8)`
      return { value, read: value, units: value }
    }
    const value = `SUM(${column})::numeric`
    return { value, read: `${value}::text`, units: sumInUnits(value, field) }
  },
  lockNumbers: (space, numbers) =>
    `SELECT pg_advisory_xact_lock(${space}, n) FROM unnest(ARRAY[${numbers.join()}]) AS n`,
  double: (number) => `(${number})::float8`,
  concat: (parts) => `(${parts.map((part) => `(${part})::text`).join(' || ')})`,
  minMaxOperand: (column, { valueType: { binary = false } }) => (binary ? `convert_from(${column}, 'UTF8')` : column),
  datePart: (column, { valueType: { type } }, unit) => {
    const utc = type === 'date' ? `(${column})::timestamp` : `(${column})::timestamptz AT TIME ZONE 'UTC'`
    return `to_char(${utc}, '${DATE_FORMATS[unit]}')`
  },
  columnTypes: postgresTypes,
  jsonMembers: postgresMembers,
  hasArrays: true,
  fullText,
  failures,
})
