import type { PositiveOperator } from '../../../types/plan.js'
import { compareBy, type Dialect, plain, type TextComparison } from './dialect.js'

/** Writes GLOB's wildcards as text. GLOB is case-sensitive whatever the collation, and uses a column's index. */
function escapeGlob(text: string): string {
  return text.replace(/[*?[]/g, '[$&]')
}

// A NOCASE column would fold `=`; naming the collation costs nothing where it is the column's own.
const exact: Readonly<Partial<Record<PositiveOperator, TextComparison>>> = {
  eq: { encode: plain, write: (column, [operand]) => `${column} = ${operand} COLLATE BINARY` },
  in: { encode: plain, write: (column, operands) => compareBy('in', `${column} COLLATE BINARY`, operands) },
  contains: { encode: plain, write: (column, [operand]) => `instr(${column}, ${operand}) > 0` },
  startsWith: {
    encode: (text) => `${escapeGlob(text)}*`,
    write: (column, [operand]) => `${column} GLOB ${operand}`,
  },
  endsWith: {
    encode: (text) => `*${escapeGlob(text)}`,
    write: (column, [operand]) => `${column} GLOB ${operand}`,
  },
}

// lower() folds ASCII only, and unlike LIKE it does not hang on a pragma of the connection.
const folded: Readonly<Partial<Record<PositiveOperator, TextComparison>>> = {
  contains: { encode: plain, write: (column, [operand]) => `instr(lower(${column}), lower(${operand})) > 0` },
  startsWith: {
    encode: (text) => `${escapeGlob(text)}*`,
    write: (column, [operand]) => `lower(${column}) GLOB lower(${operand})`,
  },
  endsWith: {
    encode: (text) => `*${escapeGlob(text)}`,
    write: (column, [operand]) => `lower(${column}) GLOB lower(${operand})`,
  },
}

function text(operator: PositiveOperator, ignoreCase: boolean): TextComparison {
  const special = (ignoreCase ? folded : exact)[operator]
  if (special !== undefined) return special
  const collation = ignoreCase ? ' COLLATE NOCASE' : ''
  return { encode: plain, write: (column, operands) => compareBy(operator, `${column}${collation}`, operands) }
}

export const sqlite: Dialect = Object.freeze<Dialect>({
  name: 'sqlite',
  binds: true,
  prepares: true,
  returnsInserted: true,
  returnsUpdated: true,
  // Sequelize takes a statement that starts with "INSERT INTO" for one without rows; ABORT is SQLite's default.
  insert: 'INSERT OR ABORT INTO',
  queuesWrites: true,
  jsonAsText: true,
  // The driver reads 64-bit integers as floating point.
  read: (column, field) => (field.valueType.type === 'bigint' ? `CAST(${column} AS TEXT)` : column),
  operand: (placeholder) => placeholder,
  // FLOAT has eight bytes here.
  shortFloat: (value) => value,
  boolean: (value) => (value ? 1 : 0),
  order: (column, direction) => `${column} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  text,
})
