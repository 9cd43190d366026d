import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { Dialect, SumExpressions, TextComparison, TextComparisons, TextTraits } from '../../../types/dialect.js'
import type { Failure, Failures, ForeignKey, Refusal } from '../../../types/failures.js'
import type { Bound, Field, FieldType, ValueType } from '../../../types/field.js'
import type { ValuesTable } from '../../../types/valuesTable.js'
import { NUMBERS } from '../../common/values.js'
import { sequelizeOf } from '../internals.js'
import { type RawRow, runReadQuery } from '../run.js'
import { escapeValue, quote, quoteTable } from '../sql.js'
import { fixSqliteConnections } from '../sqliteConnections.js'
import {
  COMPARISONS,
  createCursorValueReader,
  createOrderComparisons,
  DATE_FORMATS,
  entriesFor,
  exists,
  keepText,
  NETWORK,
  STANDARD,
  tuples,
  writeValues,
} from './dialect.js'
import { convertToInstant, guardForParser } from './sqliteInstants.js'
import { sqliteMembers } from './sqliteMembers.js'
import { sqliteTypes } from './sqliteTypes.js'
import { sqliteTables } from './tableCatalogues.js'

/** Escapes the wildcards of GLOB. GLOB is case-sensitive in every collation, and uses the column's index. */
function escapeGlob(text: string): string {
  return text.replace(/[*?[]/g, '[$&]')
}

/**
 * Writes the equality of texts. A NOCASE column and its index fold case, so the bytes are compared as well.
 * `COLLATE BINARY` would be slow within an OR, because SQLite 3.53 uses no index there for a condition that names a
 * collation.
 */
function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return ({ ignoreCase }) => ({
    encode: keepText,
    write: (column, operands) =>
      ignoreCase
        ? compare(`${column} COLLATE NOCASE`, operands)
        : `(${compare(column, operands)} AND ${compare(bytesOf(column), operands.map(bytesOf))})`,
  })
}

function bytesOf(text: string): string {
  return `CAST(${text} AS BLOB)`
}

/**
 * Compares the last bytes, because `length` and `substr` of text stop at the first NUL. For an empty suffix `substr`
 * returns null. GLOB would try the suffix at every position.
 */
function endsWith(column: string, operand: string): string {
  const end = bytesOf(operand)
  return `ifnull(substr(${bytesOf(column)}, -length(${end})), x'') = ${end}`
}

/** Creates a comparison with a part of a text. If case is ignored, both sides are folded. */
function createSearch(
  write: (column: string, operand: string) => string,
  encode = keepText,
): (how: TextTraits) => TextComparison {
  return ({ ignoreCase }) => {
    // lower() folds ASCII only. Unlike LIKE, lower() does not depend on a pragma of the connection.
    const side = (sql: string): string => (ignoreCase ? `lower(${sql})` : sql)
    return { encode, write: (column, [operand = '']) => write(side(column), side(operand)) }
  }
}

const textComparisons: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  ...createOrderComparisons((operator) => ({ ignoreCase }) => ({
    encode: keepText,
    write: (column, operands) => COMPARISONS[operator](ignoreCase ? `${column} COLLATE NOCASE` : column, operands),
  })),
  contains: createSearch((column, operand) => `instr(${column}, ${operand}) > 0`),
  startsWith: createSearch(
    (column, operand) => `${column} GLOB ${operand}`,
    (given) => `${escapeGlob(given)}*`,
  ),
  endsWith: createSearch(endsWith),
}

/** Types whose columns store integral values as 64-bit integers. */
const INTEGRAL: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'decimal'])

function castToText(column: string): string {
  return `CAST(${column} AS TEXT)`
}

/** Converts a column so that equal values of responses also compare equal, whatever their stored form. */
function comparable(column: string, { valueType: { type } }: Field): string {
  if (type === 'datetime') return convertToInstant(column)
  return type === 'date' ? `substr(${column}, 1, 10)` : column
}

/**
 * Writes a sum. SQLite stores DECIMAL as floating point. Sums of integers, in units of the last decimal place, are
 * exact.
 */
function sum(column: string, { valueType: { type, scale } }: Field): SumExpressions {
  if (type !== 'decimal' || scale === undefined || scale === 0) {
    const value = `SUM(${column})`
    const read = type === 'float' ? value : `CAST(${value} AS TEXT)`
    return { value, read, units: value }
  }
  const units = `SUM(CAST(ROUND(${column} * ${10 ** scale}) AS INTEGER))`
  return { value: `(${units} / ${10 ** scale}.0)`, read: `(${units} || 'e-${scale}')`, units }
}

const LARGEST = 2n ** 63n - 1n

const FINITE: readonly Bound[] = Object.freeze([
  { operator: 'gte', value: -Number.MAX_VALUE },
  { operator: 'lte', value: Number.MAX_VALUE },
])

/** Bounds for days, which are stored as text. Numbers sort before all texts. */
const DAYS: readonly Bound[] = Object.freeze([
  { operator: 'gte', value: '0001-01-01' },
  { operator: 'lt', value: ':' },
])

/** Upper bound for numbers, which sort before texts. */
const NUMBERS_ONLY: readonly Bound[] = Object.freeze([{ operator: 'lt', value: '' }])

/** Traits of stored values, by declared type. A column accepts any value from any program. */
const STORAGE_TRAITS: Readonly<Partial<Record<FieldType, Partial<ValueType>>>> = {
  datetime: { hasOtherFormats: true },
  date: { hasOtherFormats: true, responseBounds: DAYS },
  time: { hasOtherFormats: true, hasMoreDigits: true },
  boolean: { isNumericBoolean: true, responseBounds: NUMBERS_ONLY },
  float: { responseBounds: FINITE },
  decimal: { responseBounds: FINITE },
}

/**
 * Returns the type that a declared column has on SQLite. Every integer type has 64 bits and a sign. FLOAT has eight
 * bytes.
 */
function column({ single: _, real: __, ...given }: ValueType): ValueType {
  const declared = { ...given, ...STORAGE_TRAITS[given.type] }
  const { max } = declared
  return max !== undefined && max > LARGEST ? { ...declared, max: LARGEST } : declared
}

/**
 * Returns the kind of a failed constraint from its message. Sequelize reports all constraints and errors of triggers as
 * unique violations.
 */
function classifyRefusal(message: string): Refusal {
  const [, refusal] = /^SQLITE_CONSTRAINT: (.*)/.exec(message) ?? []
  if (refusal === undefined || refusal.startsWith('UNIQUE constraint failed')) return 'unique'
  if (refusal.startsWith('CHECK constraint failed')) return 'checkConstraint'
  if (refusal.startsWith('NOT NULL constraint failed')) return 'notNull'
  // Message of a STRICT table.
  return /^cannot store \w+ value in /.test(refusal) ? 'dataException' : 'databaseRule'
}

// Messages of exceeded limits, which have no error code.
const LIMIT =
  /^SQLITE_ERROR: (?:at most \d+ tables in a join|Expression tree is too large|parser stack overflow|variable number must be between|too many (?:SQL variables|columns in|terms in|FROM clause terms|references to)|LIKE or GLOB pattern too complex)/

const failures: Failures = {
  classifyRaised: () => null,
  wrongServerCodes: new Set(),
  codes: new Map<unknown, Failure>([
    ...entriesFor('unavailable', 'SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_MISUSE', 'SQLITE_CANTOPEN', 'SQLITE_FULL'),
    ...entriesFor('unavailable', 'SQLITE_READONLY', 'SQLITE_INTERRUPT', ...NETWORK),
    ...entriesFor('dataException', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG'),
  ]),
  sqlStateOf: () => undefined,
  sqlStateClasses: [],
  messagePatterns: [
    [LIMIT, 'tooLarge'],
    // SQLite uses one code for these errors and for mistakes in the host's SQL.
    [/^SQLITE_ERROR: (?:malformed JSON|integer overflow)$/, 'dataException'],
    [/^SQLITE_ERROR: cannot (?:INSERT into|UPDATE) generated column /, 'databaseRule'],
  ],
  classifyUnique: classifyRefusal,
  nullColumn: ({ message = '' }) => /NOT NULL constraint failed: .*?([^.]+)$/.exec(message)?.[1],
  // Sequelize cuts names at the first dot, which a table name in a schema also contains.
  parseUniqueViolation: ({ message = '' }) => {
    // For an expression index, the message contains the name of the index.
    const [, index] = /UNIQUE constraint failed: index '(.+)'$/.exec(message) ?? []
    if (index !== undefined) return { index }
    const listed = /UNIQUE constraint failed: (.+)$/.exec(message)?.[1]
    return listed === undefined ? {} : { columns: listed.split(', ').map((name) => name.split('.').at(-1) ?? '') }
  },
  parseForeignKeyViolation: () => ({ isReferenced: false, columns: [] }),
}

function columns(model: ModelStatic<Model>): string {
  const name = escapeValue(model, quoteTable(model).slice(1, -1))
  const stored = (type: string, and: string): string =>
    `EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = '${type}' AND ${and})`
  const isTable = stored('table', `name = ${name} COLLATE NOCASE AND sql LIKE 'CREATE TABLE%'`)
  const hasTriggers = stored('trigger', `tbl_name = ${name} COLLATE NOCASE`)
  // A temporary table or view of this name hides the stored table. A temporary trigger may run on writes to the table.
  const isTemporary = `EXISTS (SELECT 1 FROM sqlite_temp_master WHERE name = ${name} COLLATE NOCASE OR tbl_name = ${name} COLLATE NOCASE)`
  return `SELECT name, type FROM pragma_table_info(${name}, 'main') WHERE ${isTable} AND NOT ${hasTriggers} AND NOT ${isTemporary}`
}

/** Whether a column stores values without conversion. Other columns convert texts of digits to numbers, or numbers to texts. */
const canStoreUnchanged: ValuesTable['isExact'] = (rows, { column, valueType: { type } }) => {
  const own = rows.find(({ name }) => String(name).toUpperCase() === column.toUpperCase())
  if (own === undefined) return false
  const declared = String(own.type).toUpperCase()
  const isInteger = declared.includes('INT')
  if (type === 'integer' || type === 'bigint') return isInteger
  const isText = !isInteger && /CHAR|CLOB|TEXT/.test(declared)
  // A column that is declared as UUID has numeric affinity, but no UUID looks like a number.
  return isText || (type === 'uuid' && declared === 'UUID')
}

/** SQLite's table of values, which an UPDATE of several rows joins. */
const sqliteValuesTable: ValuesTable = {
  start: '(VALUES (',
  end: () => ')) AS _items',
  column: (index) => `_items.column${index + 1}`,
  columns,
  isExact: canStoreUnchanged,
  // Values have types of their own, which no column changes before they are stored.
  cast: () => '',
}

/** Reads the foreign keys of the model's table from SQLite's catalogue. */
async function readForeignKeys(
  model: ModelStatic<Model>,
  transaction: Transaction | undefined,
): Promise<readonly ForeignKey[]> {
  const name = escapeValue(model, quoteTable(model).slice(1, -1))
  const rows = await queryCatalogue(
    model,
    `SELECT * FROM pragma_foreign_key_list(${name}) ORDER BY id, seq`,
    transaction,
  )
  const ids = [...new Set(rows.map(({ id }) => id))]
  return Promise.all(
    ids.map(async (id) => {
      const parts = rows.filter((row) => row.id === id)
      const table = String(parts[0]?.table)
      const named = parts.flatMap(({ to }) => (to === null || to === undefined ? [] : [String(to)]))
      // Without column names, the foreign key refers to the primary key.
      const targets = named.length > 0 ? named : await primaryKeyOf(model, table, transaction)
      return { columns: parts.map(({ from }) => String(from)), targets, table: quote(model, table) }
    }),
  )
}

async function primaryKeyOf(
  model: ModelStatic<Model>,
  table: string,
  transaction: Transaction | undefined,
): Promise<readonly string[]> {
  const sql = `SELECT name FROM pragma_table_info(${escapeValue(model, table)}) WHERE pk > 0 ORDER BY pk`
  return (await queryCatalogue(model, sql, transaction)).map(({ name }) => String(name))
}

function queryCatalogue(
  model: ModelStatic<Model>,
  sql: string,
  transaction: Transaction | undefined,
): Promise<readonly RawRow[]> {
  return runReadQuery(sequelizeOf(model), { sql, transaction, writes: true })
}

export const sqlite: Dialect = Object.freeze<Dialect>({
  ...STANDARD,
  name: 'sqlite',
  columnType: column,
  preparesBy: 'connection',
  maxValues: 32_766,
  returnsInserted: true,
  returnsUpdated: true,
  valuesTable: sqliteValuesTable,
  rowsSubquery: writeValues,
  tableCatalogue: sqliteTables,
  // Two blanks, because Sequelize expects no rows from a statement that starts with "INSERT INTO". OR ABORT would also apply to statements
  // of triggers and break their INSERT OR REPLACE.
  insertKeyword: 'INSERT  INTO',
  queuesWrites: true,
  fixConnections: fixSqliteConnections,
  jsonAsText: true,
  // The driver reads 64-bit integers as floating point.
  readExpression: (column, field) => (field.valueType.type === 'bigint' ? castToText(column) : column),
  instanceExpression: (column, field) =>
    field.valueType.type === 'bigint' ? castToText(column) : guardForParser(column, field),
  boolean: (value) => (value ? 1 : 0),
  inList: {
    encode: (values) => JSON.stringify(values),
    write: (expression, placeholder) => `${expression} IN (SELECT value FROM json_each(${placeholder}))`,
  },
  firstPerParent: {
    numbersKeys: true,
    // SQLite has no LATERAL, so the keys for one parent are one value, a JSON array.
    each: ({ placeholder, key }, of) => {
      const found = `SELECT json_group_array(_first.${key}) FROM (${of('_each.value')}) AS _first`
      return `SELECT _key.value FROM json_each(${placeholder}) AS _each, json_each((${found})) AS _key`
    },
  },
  tuples: (rows) => tuples(rows).replace('(', '(VALUES '),
  // SQLite 3.52 converts EXISTS to a join, so that OFFSET skips elements instead of records, and NOT EXISTS misses
  // records. A plus prevents the conversion.
  exists: (rows) => `+${exists(rows)}`,
  hasIndexedExists: false,
  // For a plain placeholder, SQLite plans again after each binding. A plus prevents the repeated planning.
  limit: (placeholder) => `+${placeholder}`,
  orderKeys: {
    ...STANDARD.orderKeys,
    // The driver would read integers as floating point, so they are read as text. A numeric column converts the text to
    // the number.
    read: (term, { valueType: { type } }) =>
      INTEGRAL.has(type) ? `CASE typeof(${term}) WHEN 'integer' THEN CAST(${term} AS TEXT) ELSE ${term} END` : term,
    toCursorValue: createCursorValueReader(INTEGRAL),
  },
  orderTerm: (column, direction) => `${column} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  textComparisons,
  grouping: (column, field) => {
    if (field.valueType.type !== 'string') {
      const by = comparable(column, field)
      return { by, read: by, order: [by] }
    }
    const exact = `${column} COLLATE BINARY`
    return { by: exact, read: exact, order: [`MIN(${column})`, exact] }
  },
  sum,
  double: (number) => `CAST(${number} AS REAL)`,
  concat: (parts) => `(${parts.join(' || ')})`,
  minMaxOperand: comparable,
  instant: convertToInstant,
  // Instants are converted, because another program may have stored another offset.
  datePart: (column, field, unit) => `strftime('${DATE_FORMATS[unit]}', ${comparable(column, field)})`,
  // A derived expression has no affinity that converts text to a number, so the operand is cast.
  operand: (placeholder, { derived, valueType: { type } }) =>
    derived !== undefined && NUMBERS.has(type) ? `CAST(${placeholder} AS NUMERIC)` : placeholder,
  columnTypes: sqliteTypes,
  jsonMembers: sqliteMembers,
  foreignKeys: readForeignKeys,
  failures,
})
