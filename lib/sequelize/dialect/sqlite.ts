import type { ValueType } from '../../../types/field.js'
import {
  COMPARISONS,
  type Dialect,
  exists,
  ordered,
  plain,
  type TextComparison,
  type TextComparisons,
  type TextTraits,
} from './dialect.js'

/** Writes GLOB's wildcards as text. GLOB is case-sensitive whatever the collation, and uses a column's index. */
function escapeGlob(text: string): string {
  return text.replace(/[*?[]/g, '[$&]')
}

/** Equality of a NOCASE column folds, and is what its index knows. */
function equality(operator: 'eq' | 'in'): (how: TextTraits) => TextComparison {
  const compare = COMPARISONS[operator]
  return ({ ignoreCase }) => ({
    encode: plain,
    write: (column, operands) =>
      ignoreCase
        ? compare(`${column} COLLATE NOCASE`, operands)
        : `(${compare(column, operands)} AND ${compare(`${column} COLLATE BINARY`, operands)})`,
  })
}

/**
 * By bytes, as `length` and `substr` of text end at its first NUL; of no bytes `substr` gives null. GLOB would try the end
 * at every place.
 */
function endsWith(column: string, operand: string): string {
  const end = `CAST(${operand} AS BLOB)`
  return `ifnull(substr(CAST(${column} AS BLOB), -length(${end})), x'') = ${end}`
}

/** Parts of a text, both sides folded alike. */
function within(
  write: (column: string, operand: string) => string,
  encode = plain,
): (how: TextTraits) => TextComparison {
  return ({ ignoreCase }) => {
    // lower() folds ASCII only, and unlike LIKE it does not hang on a pragma of the connection.
    const side = (sql: string): string => (ignoreCase ? `lower(${sql})` : sql)
    return { encode, write: (column, [operand = '']) => write(side(column), side(operand)) }
  }
}

const text: TextComparisons = {
  eq: equality('eq'),
  in: equality('in'),
  ...ordered((operator) => ({ ignoreCase }) => ({
    encode: plain,
    write: (column, operands) => COMPARISONS[operator](ignoreCase ? `${column} COLLATE NOCASE` : column, operands),
  })),
  contains: within((column, operand) => `instr(${column}, ${operand}) > 0`),
  startsWith: within(
    (column, operand) => `${column} GLOB ${operand}`,
    (given) => `${escapeGlob(given)}*`,
  ),
  endsWith: within(endsWith),
}

const LARGEST = 2n ** 63n - 1n

/** Integers have 64 bits with a sign, whatever the column is called. FLOAT has eight bytes. */
function column({ single: _, ...declared }: ValueType): ValueType {
  const { max } = declared
  return max !== undefined && max > LARGEST ? { ...declared, max: LARGEST } : declared
}

export const sqlite: Dialect = Object.freeze<Dialect>({
  name: 'sqlite',
  refuse: () => null,
  column,
  binds: true,
  prepares: true,
  returnsInserted: true,
  returnsUpdated: true,
  // Sequelize takes a statement that starts with "INSERT INTO" for one without rows; ABORT is SQLite's default.
  insert: 'INSERT OR ABORT INTO',
  insertedKeys: null,
  queuesWrites: true,
  interrupt: null,
  longestAlias: Number.POSITIVE_INFINITY,
  jsonAsText: true,
  // The driver reads 64-bit integers as floating point.
  read: (column, field) => (field.valueType.type === 'bigint' ? `CAST(${column} AS TEXT)` : column),
  losesDigits: ({ valueType }) => valueType.type === 'bigint',
  operand: (placeholder) => placeholder,
  boolean: (value) => (value ? 1 : 0),
  // SQLite 3.52 makes a join of EXISTS, by which OFFSET skips elements instead of records, and NOT EXISTS of an EXISTS
  // misses some. The plus keeps it from that.
  exists: (rows) => `+${exists(rows)}`,
  order: (column, direction) => `${column} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  values: COMPARISONS,
  text,
})
