import type {
  Dialect,
  DriverOptions,
  FullText,
  TextComparison,
  TextComparisons,
  TextTraits,
} from '../../../types/dialect.js'
import type { Failure, Failures } from '../../../types/failures.js'
import type { Bound, Field, FieldType, ValueType } from '../../../types/field.js'
import { EXACT_DIGITS } from '../../common/values.js'
import type { DateUnit } from '../../language/measures.js'
import type { ValueOperator } from '../../language/operators.js'
import {
  COMPARISONS,
  countedIn,
  each,
  inUnits,
  LIKE_PATTERNS,
  lettered,
  NETWORK,
  ordered,
  plain,
  STANDARD,
} from './dialect.js'
import { mysqlMembers } from './mysqlMembers.js'
import { mysqlTypes } from './mysqlTypes.js'
import { mysqlTables } from './tables.js'

/** The bytes of a text in UTF-8: no collation folds, pads or ignores any of them. */
function bytes(expression: string): string {
  return `CAST(CONVERT(${expression} USING utf8mb4) AS BINARY)`
}

function folded(expression: string): string {
  return `CAST(LOWER(CONVERT(${expression} USING utf8mb4)) AS BINARY)`
}

function foldedBy(operator: ValueOperator): TextComparison {
  return { encode: plain, write: (column, operands) => COMPARISONS[operator](folded(column), operands.map(folded)) }
}

function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return ({ ignoreCase, wide }) => {
    if (ignoreCase) return foldedBy(operator)
    return {
      encode: plain,
      write: (column, operands) => {
        const exact = compare(bytes(column), operands.map(bytes))
        return wide ? exact : `(${compare(column, operands)} AND ${exact})`
      },
    }
  }
}

function like(operator: keyof typeof LIKE_PATTERNS): (how: TextTraits) => TextComparison {
  const encode = LIKE_PATTERNS[operator]
  return ({ ignoreCase, wide }) => ({
    encode,
    write: (column, [operand = '']) => {
      const side = ignoreCase ? folded : bytes
      const exact = `${side(column)} LIKE ${side(operand)} ESCAPE '|'`
      // The collation's own LIKE finds a superset, through the index; the bytes decide.
      const isIndexed = operator === 'startsWith' && !ignoreCase && !wide
      return isIndexed ? `(${column} LIKE ${operand} ESCAPE '|' AND ${exact})` : exact
    },
  })
}

function endsWith({ ignoreCase }: TextTraits): TextComparison {
  const side = ignoreCase ? folded : bytes
  // LIKE would try the end at every place.
  const write = (column: string, end: string): string => `RIGHT(${column}, LENGTH(${end})) = ${end}`
  return { encode: plain, write: (column, [operand = '']) => write(side(column), side(operand)) }
}

const text: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  // In no other order than ORDER BY has, or keyset pages would lose records: the column's own.
  ...ordered((operator) => ({ ignoreCase }) => {
    return ignoreCase ? foldedBy(operator) : { encode: plain, write: COMPARISONS[operator] }
  }),
  contains: like('contains'),
  startsWith: like('startsWith'),
  endsWith,
}

const DATE_FORMATS: Readonly<Record<DateUnit, string>> = {
  year: '%Y',
  month: '%Y-%m',
  day: '%Y-%m-%d',
  hour: '%Y-%m-%dT%H',
}

const UTC = '+00:00'

// What means more than itself in boolean mode, between quotes and outside.
const BOOLEAN_OPERATORS = /[-+<>()~*"@]/g

const fullText: FullText = {
  encode: (words) => {
    const quoted = lettered(words).map((word) => `+"${word.replace(BOOLEAN_OPERATORS, ' ')}"`)
    return quoted.length === 0 ? null : quoted.join(' ')
  },
  write: (columns, operand) => `MATCH (${columns.join(', ')}) AGAINST (${operand} IN BOOLEAN MODE)`,
}

/**
 * In other character sets than UTF-8 the drivers cut the code of a character they cannot send down to its last byte,
 * after Sequelize has escaped the text: `ħ` becomes the quote that ends it.
 */
function refuseCharset({ charset, collation }: DriverOptions): string | null {
  const narrow = [charset, collation].find((name) => name !== undefined && !/^utf8/i.test(String(name)))
  return narrow === undefined ? null : `the connection's character set must be UTF-8 (utf8mb4), not ${narrow}`
}

/** Options under which Sequelize's own instances hold rows of another shape, or rounded keys. */
function refuse(driver: DriverOptions): string | null {
  const shape = (['nestTables', 'rowsAsArray', 'metaAsArray'] as const).find((name) => Boolean(driver[name]))
  if (shape !== undefined) return `dialectOptions.${shape} must not be set: rows would have another shape`
  const lossy = (['supportBigNumbers', 'typeCast'] as const).find((name) => driver[name] === false)
  if (lossy !== undefined)
    return `dialectOptions.${lossy} must not be false: values would be changed when they are read`
  return refuseCharset(driver)
}

/** A decimal with more digits than a floating point number keeps: some drivers and options make numbers of decimals. */
function isLongDecimal({ type, precision = Number.POSITIVE_INFINITY }: ValueType): boolean {
  return type === 'decimal' && precision > EXACT_DIGITS
}

const COUNTED: ReadonlySet<FieldType> = new Set(['integer', 'float', 'boolean'])
const EXACT: ReadonlySet<FieldType> = new Set(['bigint', 'decimal'])
const counted = countedIn(COUNTED)

/** Zero dates, and days of the year 0, are no days. */
const SINCE_FIRST_DAY: readonly Bound[] = Object.freeze([{ operator: 'gte', value: '0001-01-01' }])

/** A BOOLEAN is a TINYINT, and a TIME is a length of time. DATETIME has up to six digits of a second. */
function column(declared: ValueType): ValueType {
  switch (declared.type) {
    case 'datetime':
      return { ...declared, shown: SINCE_FIRST_DAY, finer: true }
    case 'date':
      return { ...declared, shown: SINCE_FIRST_DAY }
    case 'boolean':
      return { ...declared, loose: true }
    case 'time':
      return { ...declared, longest: { hours: 838, isSigned: true } }
    default:
      return declared
  }
}

function operand(placeholder: string, { valueType: { type, scale = 30 } }: Field): string {
  if (type === 'decimal') return `CAST(${placeholder} AS DECIMAL(65, ${scale}))`
  if (type === 'bigint') return `CAST(${placeholder} AS DECIMAL(65, 0))`
  return placeholder
}

/** A FLOAT by itself is written with six digits. */
function double(column: string): string {
  return `(${column} + 0e0)`
}

function asChar(column: string): string {
  return `CAST(${column} AS CHAR)`
}

/** By itself an enumeration would be in the order of its declaration. */
function term(column: string, enumeration: boolean): string {
  return enumeration ? asChar(column) : column
}

const failures: Failures = {
  // SIGNAL: the class of errors that a host defines, with whatever MYSQL_ERRNO.
  own: ({ sqlState = '' }) => (sqlState.startsWith('45') ? 'raised' : null),
  // --read-only, a transaction that only reads, read-only mode, a node that left its cluster, a COMMIT that the cluster refused.
  misplaced: new Set<unknown>([1290, 1792, 1836, 1047, 1180]),
  codes: new Map<unknown, Failure>([
    // A deadlock, a conflict with another writer of the cluster, no lock in time; MariaDB: the record has changed since the last read.
    ...each('deadlock', 'ER_LOCK_DEADLOCK', 1213, 3101, 1020, 1205),
    // Too many connections, disk or table full, shutting down, a cluster's node that is not ready, broken connections.
    ...each('unavailable', 1040, 1203, 1226, 1021, 1114, 1053, 1047, 1180),
    ...each('unavailable', 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013),
    // Query interrupted, connection killed, ended for its length, for idling, only reads.
    ...each('unavailable', 1317, 1927, 3169, 1969, 3024, 4031, 1290, 1792, 1836),
    ...each('unavailable', 'PROTOCOL_CONNECTION_LOST', 'ER_SOCKET_UNEXPECTED_CLOSE', 'ER_SOCKET_TIMEOUT'),
    ...each('unavailable', 'ER_CMD_CONNECTION_CLOSED', 'ER_CMD_NOT_EXECUTED_DESTROYED', 'ER_CONNECTION_TIMEOUT'),
    ...each('unavailable', 'ER_GET_CONNECTION_TIMEOUT', ...NETWORK),
    // Too many tables, too many columns, packet too large, a join beyond `max_join_size`, too many placeholders, the
    // thread's stack overrun, selects nested too deep.
    ...each('tooLarge', 1116, 1117, 1153, 1104, 1390, 1436, 1473),
    ...each('unindexed', 1191),
    ...each('foreign', 1216, 1217, 1451, 1452, 1761, 1762),
    // SIGNAL: the host's own triggers; WITH CHECK OPTION of a view; a value for a generated column, on MariaDB and MySQL.
    ...each('raised', 1644, 1369, 1906, 3105),
    ...each('check', 3819, 4025),
    ...each('null', 1048, 1364),
    // Out of range, cut off, incorrect for the type, too long, beyond a BIGINT, no JSON.
    ...each('unfit', 1264, 1265, 1292, 1366, 1367, 1406, 1690, 3140),
    // Data exceptions that are not classed as such: incorrect for a function, beyond a character set as a bound value
    // and as a computed one, cut off for an index over an expression, no JSON for a function.
    ...each('unfit', 1411, 3988, 1977, 3751, 4038),
    // Incorrect for a date that it is compared with.
    ...each('unfit', 1525),
    // A column of a narrow character set was compared with text beyond it.
    ...each('charset', 1271, 3854),
  ]),
  state: ({ sqlState }) => sqlState,
  classes: [
    [/^22[0-9A-Z]{3}$/, 'unfit'],
    // Classes that the standard leaves to others; 70100 is an interrupted statement.
    [/^(?:[5689I-WYZ][0-9A-Z]|7(?!0100)[0-9A-Z])[0-9A-Z]{3}$/, 'raised'],
  ],
  // Collations that do not mix (1267, 1270): a value of the client is one of the sides. Where both are columns, the host is to mend them.
  words: [[/\(\w+,(?:COERCIBLE|IGNORABLE|NUMERIC)\)/, 'charset']],
  unique: () => 'unique',
  nullColumn: ({ sqlMessage = '' }) => /'([^']+)'/.exec(sqlMessage)?.[1],
  // They name the index: the last thing in quotes, behind its table.
  taken: ({ sqlMessage = '' }) => ({ index: /'([^']*)'[^']*$/.exec(sqlMessage)?.[1]?.split('.').at(-1) ?? '' }),
  pointing: ({ errno, sqlMessage = '' }) => {
    const [, table, columns] = /`([^`]+)`, CONSTRAINT .*? FOREIGN KEY \((.+?)\) REFERENCES/.exec(sqlMessage) ?? []
    const isPointedAt = errno === 1217 || errno === 1451
    return { isPointedAt, table, columns: columns?.replaceAll('`', '').split(', ') ?? [] }
  },
}

/** Types whose values a SELECT without a table would take for texts. */
const LITERALS: { readonly [type in FieldType]?: string } = { datetime: 'DATETIME(6)', date: 'DATE', time: 'TIME(6)' }

/** MySQL: collations fold case and pad blanks, strings and numbers compare as floating point. */
export const mysql: Dialect = Object.freeze<Dialect>({
  ...STANDARD,
  name: 'mysql',
  column,
  refuse,
  tables: mysqlTables,
  readsSnapshots: true,
  insertedKeys: 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS `first`, @@auto_increment_increment AS `step`',
  // Were only the statement killed, the next one that the driver has in its queue would run.
  interrupt: {
    kill: {
      connection: (connection) => `KILL ${Number(Reflect.get(connection, 'threadId'))}`,
      statement: (connection) => `KILL QUERY ${Number(Reflect.get(connection, 'threadId'))}`,
    },
  },
  jsonAsText: true,
  read: (column, { valueType }) => {
    if (valueType.document === true || isLongDecimal(valueType)) return asChar(column)
    return valueType.single === true ? double(column) : column
  },
  instance: (column, { valueType }) => {
    if (isLongDecimal(valueType)) return asChar(column)
    return valueType.single === true ? double(column) : null
  },
  operand,
  literal: (sql, type) => (LITERALS[type] === undefined ? sql : `CAST(${sql} AS ${LITERALS[type]})`),
  boolean: (value) => (value ? 1 : 0),
  keys: {
    isRead: STANDARD.keys.isRead,
    term,
    read: (term, { valueType }) => {
      const { type } = valueType
      if (type === 'datetime' || type === 'date' || type === 'time' || isLongDecimal(valueType))
        return `CAST(${term} AS CHAR)`
      // Bits and booleans as numbers, however the driver takes them.
      if (type === 'boolean') return `(${term} + 0)`
      // One driver reads the last digits of floating point wrongly, unless they are text. A sort keeps 23 characters of a text
      // without a length, and 1.0000000133514e-10 has more.
      return type === 'float' ? `CAST((${term} + 0e0) AS CHAR(64))` : term
    },
    value: (raw, field) => {
      const isFloat = field.valueType.type === 'float' && typeof raw === 'string'
      return counted(isFloat ? Number(raw) : raw, field)
    },
    // Numbers and texts would compare as floating point, whichever of them is the column.
    admits: (value, { valueType: { type } }) => {
      if (typeof value === 'number') return COUNTED.has(type) || EXACT.has(type)
      if (type === 'integer') return /^-?\d{1,20}$/.test(value)
      return EXACT.has(type) ? /^-?\d{1,65}(?:\.\d{1,30})?$/.test(value) : !COUNTED.has(type)
    },
    operand,
    rowValues: false,
  },
  order: (column, direction, { enumeration }) => `${term(column, enumeration)} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  text,
  group: (column, field) => {
    const { type, single = false } = field.valueType
    if (type !== 'string') {
      // By what a FLOAT is read as, which has more digits than its text.
      const by = single ? `(${column} + 0e0)` : column
      return { by, read: by, order: [by] }
    }
    const exact = bytes(column)
    return { by: exact, read: `MIN(${column})`, order: [`MIN(${column})`, exact] }
  },
  sum: (column, field) => {
    const value = `SUM(${column})`
    // The mariadb driver reads long sums as floating point.
    const read = field.valueType.type === 'float' ? value : `CAST(${value} AS CHAR)`
    return { value, read, units: inUnits(value, field) }
  },
  double: (number) => `(${number} + 0e0)`,
  concat: (parts) => `CONCAT(${parts.join(', ')})`,
  datePart: (column, { valueType: { type } }, unit, timezone) => {
    const utc = type === 'date' || timezone === UTC ? column : `CONVERT_TZ(${column}, '${timezone}', '${UTC}')`
    return `DATE_FORMAT(${utc}, '${DATE_FORMATS[unit]}')`
  },
  columnTypes: mysqlTypes,
  members: mysqlMembers,
  fullText,
  failures,
})

/** MariaDB from 10.5 on: as MySQL, but an INSERT can return what it has stored. */
export const mariadb: Dialect = Object.freeze<Dialect>({ ...mysql, name: 'mariadb', returnsInserted: true })
