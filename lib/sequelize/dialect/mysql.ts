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
import type { ValueOperator } from '../../language/operators.js'
import {
  COMPARISONS,
  createCursorValueReader,
  createOrderComparisons,
  DATE_FORMATS,
  entriesFor,
  keepText,
  LIKE_PATTERNS,
  NETWORK,
  omitSymbolWords,
  STANDARD,
  sumInUnits,
} from './dialect.js'
import { mysqlMembers } from './mysqlMembers.js'
import { mysqlTypes, toDouble } from './mysqlTypes.js'
import { mysqlTables } from './tableCatalogues.js'

/** Writes the UTF-8 bytes of a text. Collations fold case, and pad or ignore characters. Bytes compare exactly. */
function bytes(expression: string): string {
  return `CAST(CONVERT(${expression} USING utf8mb4) AS BINARY)`
}

function foldCase(expression: string): string {
  return `CAST(LOWER(CONVERT(${expression} USING utf8mb4)) AS BINARY)`
}

function foldedBy(operator: ValueOperator): TextComparison {
  return {
    encode: keepText,
    write: (column, operands) => COMPARISONS[operator](foldCase(column), operands.map(foldCase)),
  }
}

function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return ({ ignoreCase, hasFourByteCharacters }) => {
    if (ignoreCase) return foldedBy(operator)
    return {
      encode: keepText,
      write: (column, operands) => {
        const exact = compare(bytes(column), operands.map(bytes))
        return hasFourByteCharacters ? exact : `(${compare(column, operands)} AND ${exact})`
      },
    }
  }
}

function like(operator: keyof typeof LIKE_PATTERNS): (how: TextTraits) => TextComparison {
  const encode = LIKE_PATTERNS[operator]
  return ({ ignoreCase, hasFourByteCharacters }) => ({
    encode,
    write: (column, [operand = '']) => {
      const side = ignoreCase ? foldCase : bytes
      const exact = `${side(column)} LIKE ${side(operand)} ESCAPE '|'`
      // LIKE with the column's collation finds a superset through the index. The comparison of bytes decides.
      const isIndexed = operator === 'startsWith' && !ignoreCase && !hasFourByteCharacters
      return isIndexed ? `(${column} LIKE ${operand} ESCAPE '|' AND ${exact})` : exact
    },
  })
}

function endsWith({ ignoreCase }: TextTraits): TextComparison {
  const side = ignoreCase ? foldCase : bytes
  // RIGHT compares once, but LIKE would try the suffix at every position.
  const write = (column: string, end: string): string => `RIGHT(${column}, LENGTH(${end})) = ${end}`
  return { encode: keepText, write: (column, [operand = '']) => write(side(column), side(operand)) }
}

const textComparisons: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  // Comparisons use the column's collation, like ORDER BY. With another order, keyset pages would skip records.
  ...createOrderComparisons((operator) => ({ ignoreCase }) => {
    return ignoreCase ? foldedBy(operator) : { encode: keepText, write: COMPARISONS[operator] }
  }),
  contains: like('contains'),
  startsWith: like('startsWith'),
  endsWith,
}

const UTC = '+00:00'
const OFFSET = /^([+-])(\d\d:\d\d)$/

/** Converts an instant to UTC. CONVERT_TZ does not convert instants outside of the range of TIMESTAMP. */
function convertToUtc(column: string, timezone: string): string {
  const [, sign, time] = OFFSET.exec(timezone) ?? []
  if (time === undefined) return `CONVERT_TZ(${column}, '${timezone}', '${UTC}')`
  return `(${column} ${sign === '+' ? '-' : '+'} INTERVAL '${time}' HOUR_MINUTE)`
}

// Operators of boolean full-text mode, inside and outside of quotes.
const BOOLEAN_OPERATORS = /[-+<>()~*"@]/g

const fullText: FullText = {
  encode: (words) => {
    const quoted = omitSymbolWords(words).map((word) => `+"${word.replace(BOOLEAN_OPERATORS, ' ')}"`)
    return quoted.length === 0 ? null : quoted.join(' ')
  },
  write: (columns, operand) => `MATCH (${columns.join(', ')}) AGAINST (${operand} IN BOOLEAN MODE)`,
}

/**
 * Rejects character sets other than UTF-8. Drivers truncate a character outside the set to its last byte, after
 * Sequelize has escaped the text: `ħ` becomes a closing quote.
 */
function refuseCharset({ charset, collation }: DriverOptions): string | null {
  const narrow = [charset, collation].find((name) => name !== undefined && !/^utf8/i.test(String(name)))
  return narrow === undefined ? null : `the connection's character set must be UTF-8 (utf8mb4), not ${narrow}`
}

/** Rejects options under which rows of Sequelize's instances have another shape, or keys are rounded. */
function refuse(driver: DriverOptions): string | null {
  const shape = (['nestTables', 'rowsAsArray', 'metaAsArray'] as const).find((name) => Boolean(driver[name]))
  if (shape !== undefined) return `dialectOptions.${shape} must not be set, because it changes the form of the rows`
  const lossy = (['supportBigNumbers', 'typeCast'] as const).find((name) => driver[name] === false)
  if (lossy !== undefined)
    return `dialectOptions.${lossy} must not be false, because values would be changed when they are read`
  return refuseCharset(driver)
}

/** Whether a decimal has more digits than floating point keeps. Some drivers and options convert decimals to numbers. */
function isLongDecimal({ type, precision = Number.POSITIVE_INFINITY }: ValueType): boolean {
  return type === 'decimal' && precision > EXACT_DIGITS
}

const EXACT_NUMBER_TYPES: ReadonlySet<FieldType> = new Set(['integer', 'float', 'boolean'])
const EXACT: ReadonlySet<FieldType> = new Set(['bigint', 'decimal'])
const readCursorValue = createCursorValueReader(EXACT_NUMBER_TYPES)

/** Lower bound that excludes zero dates and days of the year 0. */
const SINCE_FIRST_DAY: readonly Bound[] = Object.freeze([{ operator: 'gte', value: '0001-01-01' }])

/**
 * Returns the type that a declared column has on MySQL. BOOLEAN is TINYINT, TIME is a duration, and DATETIME has up to
 * six fractional digits.
 */
function column(declared: ValueType): ValueType {
  switch (declared.type) {
    case 'datetime':
      // Sequelize writes whole seconds to a DATE without a length.
      return { ...declared, scale: declared.scale ?? 0, responseBounds: SINCE_FIRST_DAY, hasMoreDigits: true }
    case 'date':
      return { ...declared, responseBounds: SINCE_FIRST_DAY }
    case 'boolean':
      return { ...declared, isNumericBoolean: true }
    case 'time':
      return { ...declared, longestTime: { hours: 838, isSigned: true } }
    case 'json':
      // Sequelize writes geometries by the library wkx, which throws for other names.
      return declared.form === 'geometry' ? { ...declared, hasEpsgNamesOnly: true } : declared
    default:
      return declared
  }
}

function operand(placeholder: string, { valueType: { type, scale = 30 } }: Field): string {
  if (type === 'decimal') return `CAST(${placeholder} AS DECIMAL(65, ${scale}))`
  if (type === 'bigint') return `CAST(${placeholder} AS DECIMAL(65, 0))`
  return placeholder
}

function asChar(column: string): string {
  return `CAST(${column} AS CHAR)`
}

/**
 * Sorts an enumeration by its text instead of its declaration order. CONCAT keeps the column's collation, and CAST would
 * replace it by the collation of the connection.
 */
function term(column: string, enumeration: boolean): string {
  return enumeration ? `CONCAT(${column})` : column
}

const failures: Failures = {
  // SIGNAL uses SQLSTATE class 45 for errors of the host, with any MYSQL_ERRNO.
  classifyRaised: ({ sqlState = '' }) => (sqlState.startsWith('45') ? 'databaseRule' : null),
  // --read-only, read-only transaction, read-only mode, node outside its cluster, COMMIT rejected by the cluster.
  wrongServerCodes: new Set<unknown>([1290, 1792, 1836, 1047, 1180]),
  codes: new Map<unknown, Failure>([
    // Deadlock, conflict with another cluster writer, lock wait timeout. MariaDB: record changed since the last read.
    ...entriesFor('deadlock', 'ER_LOCK_DEADLOCK', 1213, 3101, 1020, 1205),
    // Too many connections, disk or table full, shutdown, cluster node not ready, broken connections.
    ...entriesFor('unavailable', 1040, 1203, 1226, 1021, 1114, 1053, 1047, 1180),
    ...entriesFor('unavailable', 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013),
    // Query interrupted, connection killed, timed out while running or idle, read-only server.
    ...entriesFor('unavailable', 1317, 1927, 3169, 1969, 3024, 4031, 1290, 1792, 1836),
    ...entriesFor('unavailable', 'PROTOCOL_CONNECTION_LOST', 'ER_SOCKET_UNEXPECTED_CLOSE', 'ER_SOCKET_TIMEOUT'),
    ...entriesFor('unavailable', 'ER_CMD_CONNECTION_CLOSED', 'ER_CMD_NOT_EXECUTED_DESTROYED', 'ER_CONNECTION_TIMEOUT'),
    ...entriesFor('unavailable', 'ER_GET_CONNECTION_TIMEOUT', ...NETWORK),
    // Too many tables or columns, packet too large, join beyond `max_join_size`, too many placeholders, thread stack overrun, selects
    // nested too deeply, too many words in a phrase of a full-text search.
    ...entriesFor('tooLarge', 1116, 1117, 1153, 1104, 1390, 1436, 1473, 191),
    ...entriesFor('missingIndex', 1191),
    ...entriesFor('foreignKey', 1216, 1217, 1451, 1452, 1761, 1762),
    // SIGNAL of the host's triggers, WITH CHECK OPTION of a view, value for a generated column (MariaDB and MySQL).
    ...entriesFor('databaseRule', 1644, 1369, 1906, 3105),
    ...entriesFor('checkConstraint', 3819, 4025),
    ...entriesFor('notNull', 1048, 1364),
    // Out of range, truncated, wrong type, too long, beyond BIGINT, invalid JSON.
    ...entriesFor('dataException', 1264, 1265, 1292, 1366, 1367, 1406, 1690, 3140),
    // A number for a type such as INET6.
    ...entriesFor('dataException', 4078),
    // Data exceptions outside class 22: wrong function argument, character beyond the character set as bound or computed value, truncated
    // for an expression index, invalid JSON for a function.
    ...entriesFor('dataException', 1411, 3988, 1977, 3751, 4038),
    // Invalid date in a comparison.
    ...entriesFor('dataException', 1525),
    // A column of a narrow character set was compared with text beyond that set.
    ...entriesFor('characterSet', 1271, 3854),
  ]),
  sqlStateOf: ({ sqlState }) => sqlState,
  sqlStateClasses: [
    [/^22[0-9A-Z]{3}$/, 'dataException'],
    // Classes that the standard leaves to implementations. 70100 is an interrupted statement.
    [/^(?:[5689I-WYZ][0-9A-Z]|7(?!0100)[0-9A-Z])[0-9A-Z]{3}$/, 'databaseRule'],
  ],
  // Incompatible collations (1267, 1270) with a client's value on one side. If both sides are columns, the host must fix its schema.
  messagePatterns: [[/\(\w+,(?:COERCIBLE|IGNORABLE|NUMERIC)\)/, 'characterSet']],
  classifyUnique: () => 'unique',
  nullColumn: ({ sqlMessage = '' }) => /'([^']+)'/.exec(sqlMessage)?.[1],
  // Index name: the last quoted part, after the table name.
  parseUniqueViolation: ({ sqlMessage = '' }) => ({
    index: /'([^']*)'[^']*$/.exec(sqlMessage)?.[1]?.split('.').at(-1) ?? '',
  }),
  parseForeignKeyViolation: ({ errno, sqlMessage = '' }) => {
    const [, table, columns] = /`([^`]+)`, CONSTRAINT .*? FOREIGN KEY \((.+?)\) REFERENCES/.exec(sqlMessage) ?? []
    const isReferenced = errno === 1217 || errno === 1451
    return { isReferenced, table, columns: columns?.replaceAll('`', '').split(', ') ?? [] }
  },
}

/** Types whose literals a SELECT without a table would treat as text. */
const LITERALS: { readonly [type in FieldType]?: string } = { datetime: 'DATETIME(6)', date: 'DATE', time: 'TIME(6)' }

/** Dialect of MySQL. Its collations fold case and pad blanks. MySQL compares strings with numbers as floating point. */
export const mysql: Dialect = Object.freeze<Dialect>({
  ...STANDARD,
  name: 'mysql',
  columnType: column,
  checkOptions: refuse,
  tableCatalogue: mysqlTables,
  readsSnapshots: true,
  insertedKeys: 'SELECT CAST(LAST_INSERT_ID() AS CHAR) AS `first`, @@auto_increment_increment AS `step`',
  // KILL QUERY is not enough: the driver would run the next statement of its queue.
  interrupt: {
    kill: {
      connection: (connection) => `KILL ${Number(Reflect.get(connection, 'threadId'))}`,
      statement: (connection) => `KILL QUERY ${Number(Reflect.get(connection, 'threadId'))}`,
    },
  },
  jsonAsText: true,
  readExpression: (column, { valueType }) => {
    if (valueType.document === true || isLongDecimal(valueType)) return asChar(column)
    return valueType.single === true ? toDouble(column) : column
  },
  instanceExpression: (column, { valueType }) => {
    if (isLongDecimal(valueType)) return asChar(column)
    return valueType.single === true ? toDouble(column) : null
  },
  operand,
  literal: (sql, type) => (LITERALS[type] === undefined ? sql : `CAST(${sql} AS ${LITERALS[type]})`),
  boolean: (value) => (value ? 1 : 0),
  orderKeys: {
    isExact: STANDARD.orderKeys.isExact,
    term,
    read: (term, { valueType }) => {
      const { type } = valueType
      if (type === 'datetime' || type === 'date' || type === 'time' || isLongDecimal(valueType))
        return `CAST(${term} AS CHAR)`
      // Reads bits and booleans as numbers, whatever the driver returns.
      if (type === 'boolean') return `(${term} + 0)`
      // One driver misreads the last digits of floating point unless they are text. Sorting truncates text without a
      // length to 23 characters, which is too short for some numbers close to zero.
      return type === 'float' ? `CAST((${term} + 0e0) AS CHAR(64))` : term
    },
    toCursorValue: (raw, field) => {
      const isFloat = field.valueType.type === 'float' && typeof raw === 'string'
      return readCursorValue(isFloat ? Number(raw) : raw, field)
    },
    // MySQL compares numbers with texts as floating point, so both sides need one type.
    isComparable: (value, { valueType: { type } }) => {
      if (typeof value === 'number') return EXACT_NUMBER_TYPES.has(type) || EXACT.has(type)
      if (type === 'integer') return /^-?\d{1,20}$/.test(value)
      return EXACT.has(type) ? /^-?\d{1,65}(?:\.\d{1,30})?$/.test(value) : !EXACT_NUMBER_TYPES.has(type)
    },
    operand,
    hasIndexedRowValues: false,
  },
  orderTerm: (column, direction, { enumeration }) =>
    `${term(column, enumeration)} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  textComparisons,
  grouping: (column, field) => {
    const { type, single = false } = field.valueType
    if (type !== 'string') {
      // A FLOAT is grouped and sorted by its whole value, because MySQL prints only six digits of a FLOAT.
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
    return { value, read, units: sumInUnits(value, field) }
  },
  double: toDouble,
  concat: (parts) => `CONCAT(${parts.join(', ')})`,
  datePart: (column, { valueType: { type } }, unit, timezone) => {
    const utc = type === 'date' || timezone === UTC ? column : convertToUtc(column, timezone)
    return `DATE_FORMAT(${utc}, '${DATE_FORMATS[unit]}')`
  },
  columnTypes: mysqlTypes,
  jsonMembers: mysqlMembers,
  fullText,
  failures,
})

/** Dialect of MySQL, and of servers whose version is not known yet, over the driver mariadb. */
export const mysqlByMariadbDriver: Dialect = Object.freeze<Dialect>({ ...mysql, rejectsRepeatedNames: true })

/** Dialect of MariaDB from 10.5 on: like MySQL, with INSERT ... RETURNING. */
export const mariadb: Dialect = Object.freeze<Dialect>({
  ...mysqlByMariadbDriver,
  name: 'mariadb',
  returnsInserted: true,
})
