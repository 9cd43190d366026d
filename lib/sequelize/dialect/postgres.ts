import type {
  Dialect,
  DriverOptions,
  FullText,
  TextComparison,
  TextComparisons,
  TextTraits,
} from '../../../types/dialect.js'
import type { DriverError, Failure, Failures, Refusal } from '../../../types/failures.js'
import type { Bound, ValueType } from '../../../types/field.js'
import type { DateUnit } from '../../language/measures.js'
import type { ValueOperator } from '../../language/operators.js'
import { arrayText } from './arrayText.js'
import {
  COMPARISONS,
  each,
  inUnits,
  LIKE_PATTERNS,
  lettered,
  NETWORK,
  ordered,
  plain,
  STANDARD,
  valuesOf,
} from './dialect.js'
import { postgresMembers } from './postgresMembers.js'
import { postgresTypes } from './postgresTypes.js'
import { postgresTables } from './tables.js'

/**
 * Column as plain text: without case folding of CITEXT, padding of CHAR and a folding collation. On other columns the planner ignores the
 * cast and can use indexes.
 */
function text(column: string): string {
  return `${column}::text COLLATE "default"`
}

function folded(column: string): string {
  return `lower(${column})`
}

/** Column and operands in the form of a comparison: folded text, bytes, or plain text. */
interface Sides {
  readonly left: (column: string) => string
  readonly right: (operand: string) => string
  readonly areBytes: boolean
}

function sidesOf({ ignoreCase, binary }: TextTraits): Sides {
  if (ignoreCase) {
    // An encoding's name has a collation that folds ASCII only.
    const decoded = (column: string): string => `convert_from(${column}, 'UTF8') COLLATE "default"`
    const left = (column: string): string => folded(binary ? decoded(column) : text(column))
    return { left, right: folded, areBytes: false }
  }
  if (!binary) return { left: text, right: plain, areBytes: false }
  // Bytes as text would be parsed as BYTEA literals, in which backslashes are escapes.
  return { left: plain, right: bytes, areBytes: true }
}

function bytes(expression: string): string {
  return `convert_to(${expression}, 'UTF8')`
}

type Written = (left: string, right: string) => string

function like(left: string, pattern: string): string {
  return `${left} LIKE ${pattern} ESCAPE '|'`
}

// Comparing bytes is much faster than comparing characters.
const isIn: Written = (left, right) => `position(${right} in ${left}) > 0`
const isInText: Written = (left, right) => isIn(bytes(left), bytes(right))
const endsText: Written = (left, right) => `right(${left}, length(${right})) = ${right}`
const endsBytes: Written = (left, right) => `substr(${left}, length(${left}) - length(${right}) + 1) = ${right}`

function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return (how) => {
    const { left, right, areBytes } = sidesOf(how)
    if (how.ignoreCase || areBytes) return compared(operator, left, right)
    return {
      encode: plain,
      write: (column, operands) => {
        const unpadded = how.padded ? operands.map((operand) => `concat(${operand})`) : operands
        // The first comparison is for the index. If both are equal, the planner drops the second.
        return `(${compare(column, operands)} AND ${compare(text(column), unpadded)})`
      },
    }
  }
}

function compared(operator: ValueOperator, left: Sides['left'], right: Sides['right']): TextComparison {
  return { encode: plain, write: (column, operands) => COMPARISONS[operator](left(column), operands.map(right)) }
}

/** Comparison by a search within text, by a pattern if the value is one. */
function within(written: Written, { left, right }: Sides, encode = plain): TextComparison {
  return { encode, write: (column, [operand = '']) => written(left(column), right(operand)) }
}

const texts: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  ...ordered((operator) => (how) => {
    const { left, right, areBytes } = sidesOf(how)
    return how.ignoreCase || areBytes
      ? compared(operator, left, right)
      : { encode: plain, write: COMPARISONS[operator] }
  }),
  contains: (how) => {
    const sides = sidesOf(how)
    if (sides.areBytes) return within(isIn, sides)
    return how.long ? within(isInText, sides) : within(like, sides, LIKE_PATTERNS.contains)
  },
  startsWith: (how) => within(like, sidesOf(how), LIKE_PATTERNS.startsWith),
  // LIKE would try the suffix at every position.
  endsWith: (how) => {
    const sides = sidesOf(how)
    return within(sides.areBytes ? endsBytes : endsText, sides)
  },
}

/** Full-text search with the `simple` configuration, without a language. The host's index must use the same expression. */
const fullText: FullText = {
  // Quotes turn off the query operators "or" and minus. Other characters would make the parser detect paths and tags.
  encode: (words) => {
    const quoted = lettered(words).map((word) => `"${word.replace(/[^\p{L}\p{M}\p{N}.@_'-]/gu, ' ')}"`)
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
    return 'standardConformingStrings must not be false: text that Sequelize escapes could end its own literal'
  return binary ? 'dialectOptions.binary must not be set: Sequelize reads values as text' : null
}

/** Whether JavaScript may round a number type. Such numbers are read as text, independent of parsers that the host sets, such as `parseInt8`. */
function isLong({ type }: ValueType): boolean {
  return type === 'bigint' || type === 'decimal'
}

const INSTANTS: readonly Bound[] = Object.freeze([
  { operator: 'gt', value: '-infinity' },
  { operator: 'lt', value: 'infinity' },
])

/** NaN sorts after all numbers. A NUMERIC with a precision has no infinity. */
const NUMBERS: readonly Bound[] = Object.freeze([{ operator: 'lt', value: 'NaN' }])
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

/** A TIMESTAMP has microseconds. */
function dated(type: ValueType['type']): Pick<ValueType, 'anyYear' | 'finer'> {
  if (type === 'datetime') return { anyYear: true, finer: true }
  return type === 'date' ? { anyYear: true } : {}
}

/** Sequelize drops UNSIGNED. FLOAT has eight bytes, and REAL has four. */
function column({ single: _, real, ...declared }: ValueType): ValueType {
  const { type, min, max } = declared
  const shown = boundsOf(declared)
  if (shown !== undefined) return { ...declared, shown, ...(real === true ? { single: true } : {}), ...dated(type) }
  if (type === 'time') return { ...declared, finer: true, longest: { hours: 24, isSigned: false } }
  const isUnsigned = (type === 'integer' || type === 'bigint') && min === 0n && max !== undefined
  return isUnsigned ? { ...declared, max: max >> 1n } : declared
}

/** Sorts an enumeration by its text instead of its declaration order. */
function termOf(column: string, enumeration: boolean): string {
  return enumeration ? `${column}::text` : column
}

const CODES: Failures['codes'] = new Map<unknown, Failure>([
  // Deadlock, serialization failure.
  ...each('deadlock', '40P01', '40001'),
  // A prepared statement is missing, or exists already. The transaction is restarted without named statements.
  ...each('deadlock', '26000', '42P05'),
  // Lock timeout, idle or transaction timeout, read-only standby.
  ...each('unavailable', '55P03', '25P03', '25P04', '25006', ...NETWORK),
  ...each('foreign', '23503', '23001'),
  ...each('excluded', '23P01'),
  // RAISE EXCEPTION of the host's triggers.
  ...each('raised', 'P0001'),
  // Value for a generated column.
  ...each('raised', '428C9'),
  ...each('check', '23514'),
  ...each('unique', '23505'),
  ...each('null', '23502'),
  // WITH CHECK OPTION of a view, from any function.
  ...each('raised', '44000'),
])

const CLASSES: Failures['classes'] = [
  // Data exceptions.
  [/^22[0-9A-Z]{3}$/, 'unfit'],
  // Exceeded program limits.
  [/^54[0-9A-Z]{3}$/, 'tooLarge'],
  // Connection exceptions except protocol violations, transaction rollback, insufficient resources, operator intervention such as a
  // cancelled statement.
  [/^(?:08(?!P01)|40|53|57)[0-9A-Z]{3}$/, 'unavailable'],
  // Classes that the standard and PostgreSQL do not use. Procedural languages raise them.
  [/^(?:45|[689I-OQ-WYZ][0-9A-Z])[0-9A-Z]{3}$/, 'raised'],
]

/** Distinguishes row policies and RAISE from missing privileges and mistakes. The routine name does not depend on the server's language. */
function ownRefusal({ code, routine }: DriverError): Refusal | null {
  if (routine === 'ExecWithCheckOptions') return code === '42501' ? 'denied' : 'raised'
  if (routine !== 'exec_stmt_raise') return null
  const isKnown = CODES.has(code) || CLASSES.some(([pattern]) => pattern.test(String(code)))
  return isKnown ? null : 'raised'
}

const failures: Failures = {
  own: ownRefusal,
  codes: CODES,
  // A standby, or a former primary that is read-only.
  misplaced: new Set<unknown>(['25006']),
  // PgBouncer reports all errors as protocol violations, without a routine name.
  state: ({ code, routine, severity }) =>
    code === '08P01' && severity === 'FATAL' && routine === undefined ? '08000' : code,
  classes: CLASSES,
  // For more than 65,535 parameters, the driver sends a wrong parameter count.
  words: [
    [/^bind message /, 'tooLarge'],
    [/^cached plan must not change result type/, 'deadlock'],
  ],
  unique: () => 'unique',
  nullColumn: ({ column }) => column,
  taken: ({ detail = '' }) => {
    const listed = /\((.+?)\)=\(/.exec(detail.replaceAll('"', ''))?.[1]
    return listed === undefined ? {} : { columns: listed.split(', ') }
  },
  // RESTRICT has a code of its own from version 18 on. Older versions use one code for both, with different text.
  pointing: ({ code, detail = '', table }) => ({
    isPointedAt: code === '23001' || detail.includes('is still referenced'),
    table,
    columns: /\((.+?)\)=\(/.exec(detail)?.[1]?.replaceAll('"', '').split(', ') ?? [],
  }),
}

export const postgres: Dialect = Object.freeze<Dialect>({
  ...STANDARD,
  name: 'postgres',
  refuse,
  column,
  prepares: 'name',
  // Declares the type of a number, because the server would otherwise use the column's type and fail for larger numbers.
  operand: (placeholder, { valueType: { type } }) =>
    type === 'integer' || type === 'bigint' ? `${placeholder}::bigint` : placeholder,
  mostValues: 65_535,
  rows: valuesOf,
  returnsInserted: true,
  returnsUpdated: true,
  tables: postgresTables,
  interrupt: { kill: null },
  longestAlias: 63,
  read: (column, { valueType }) => (isLong(valueType) ? `${column}::text` : column),
  instance: (column, { valueType }) => (isLong(valueType) ? `${column}::text` : null),
  partsNulls: true,
  // Text for all types: the server converts it to the type of the compared column.
  keys: {
    ...STANDARD.keys,
    term: termOf,
    read: (term) => `${term}::text`,
    value: (raw) => (raw === null || raw === undefined ? null : String(raw)),
    admits: (value) => typeof value === 'string',
  },
  // The text of an array has no type: it gets the type of the compared expression.
  among: {
    encode: arrayText,
    write: (expression, placeholder) => `${expression} = ANY(${placeholder})`,
  },
  firsts: {
    numbersKeys: false,
    each: ({ placeholder, field, key }, of) => {
      const type = field.valueType.type === 'uuid' ? 'uuid' : 'bigint'
      const owners = `unnest(${placeholder}::${type}[]) AS _each(owner)`
      return `SELECT _first.${key} FROM ${owners} CROSS JOIN LATERAL (${of('_each.owner')}) AS _first`
    },
  },
  // PostgreSQL sorts nulls last ascending. NULLS FIRST or LAST on a column without nulls would prevent the use of its index.
  order: (column, direction, { nullable, enumeration }) => {
    const term = `${termOf(column, enumeration)} ${direction === 'asc' ? 'ASC' : 'DESC'}`
    return nullable ? `${term} NULLS ${direction === 'asc' ? 'FIRST' : 'LAST'}` : term
  },
  text: texts,
  group: (column, { valueType: { type, binary = false } }) => {
    // Bytes compare exactly, and old versions have no min() of bytes.
    if (type !== 'string' || binary) return { by: column, read: column, order: [column] }
    const exact = `(${text(column)})`
    return { by: exact, read: exact, order: [`MIN(${column})`, exact] }
  },
  sum: (column, field) => {
    const { type } = field.valueType
    if (type === 'float') {
      const value = `SUM(${column}::float8)`
      return { value, read: value, units: value }
    }
    const value = `SUM(${column})::numeric`
    return { value, read: `${value}::text`, units: inUnits(value, field) }
  },
  double: (number) => `(${number})::float8`,
  concat: (parts) => `(${parts.map((part) => `(${part})::text`).join(' || ')})`,
  comparable: (column, { valueType: { binary = false } }) => (binary ? `convert_from(${column}, 'UTF8')` : column),
  datePart: (column, { valueType: { type } }, unit) => {
    const utc = type === 'date' ? `(${column})::timestamp` : `(${column})::timestamptz AT TIME ZONE 'UTC'`
    return `to_char(${utc}, '${DATE_FORMATS[unit]}')`
  },
  columnTypes: postgresTypes,
  members: postgresMembers,
  hasArrays: true,
  fullText,
  failures,
})
