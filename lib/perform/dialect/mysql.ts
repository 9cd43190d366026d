import type { PositiveOperator } from '../../../types/plan.js'
import { compareBy, type Dialect, escapeLike, plain, type TextComparison } from './dialect.js'

/** The column's bytes in the connection's character set: no collation folds, pads or ignores any of them. */
function bytes(column: string): string {
  return `CAST(CONVERT(${column} USING utf8mb4) AS BINARY)`
}

function folded(expression: string): string {
  return `CAST(LOWER(CONVERT(${expression} USING utf8mb4)) AS BINARY)`
}

const LIKE_PATTERNS: Readonly<Partial<Record<PositiveOperator, (text: string) => string>>> = {
  contains: (text) => `%${escapeLike(text)}%`,
  startsWith: (text) => `${escapeLike(text)}%`,
  endsWith: (text) => `%${escapeLike(text)}`,
}

function text(operator: PositiveOperator, ignoreCase: boolean, wide: boolean): TextComparison {
  const pattern = LIKE_PATTERNS[operator]
  if (ignoreCase) {
    return {
      encode: pattern ?? plain,
      write: (column, operands) => {
        const sides = operands.map(folded)
        return pattern === undefined
          ? compareBy(operator, folded(column), sides)
          : `${folded(column)} LIKE ${sides[0]} ESCAPE '|'`
      },
    }
  }
  if (pattern !== undefined) {
    return {
      encode: pattern,
      write: (column, [operand]) => {
        const exact = `${bytes(column)} LIKE CAST(${operand} AS BINARY) ESCAPE '|'`
        // The collation's own LIKE finds a superset, through the index; the bytes decide.
        return operator === 'startsWith' && !wide ? `(${column} LIKE ${operand} ESCAPE '|' AND ${exact})` : exact
      },
    }
  }
  if (operator === 'eq' || operator === 'in') {
    return {
      encode: plain,
      write: (column, operands) => {
        const sides = operands.map((operand) => `CAST(${operand} AS BINARY)`)
        const exact = compareBy(operator, bytes(column), sides)
        return wide ? exact : `(${compareBy(operator, column, operands)} AND ${exact})`
      },
    }
  }
  const compared = (column: string): string => (wide ? `CONVERT(${column} USING utf8mb4)` : column)
  return { encode: plain, write: (column, operands) => compareBy(operator, compared(column), operands) }
}

/** MySQL and MariaDB: collations fold case and pad blanks, strings and numbers compare as floating point. */
export const mysql: Dialect = Object.freeze<Dialect>({
  name: 'mysql',
  binds: false,
  prepares: false,
  returnsInserted: false,
  returnsUpdated: false,
  insert: 'INSERT INTO',
  queuesWrites: false,
  jsonAsText: true,
  read: (column, field) => (field.valueType.type === 'json' ? `CAST(${column} AS CHAR)` : column),
  operand: (placeholder, field) => {
    const { type, scale = 30 } = field.valueType
    if (type === 'decimal') return `CAST(${placeholder} AS DECIMAL(65, ${scale}))`
    if (type === 'bigint') return `CAST(${placeholder} AS DECIMAL(65, 0))`
    return placeholder
  },
  shortFloat: (value) => {
    const short = Math.fround(value)
    return Number.isFinite(short) ? short : value
  },
  boolean: (value) => (value ? 1 : 0),
  order: (column, direction, { enumeration }) =>
    `${enumeration ? `CAST(${column} AS CHAR)` : column} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  text,
})
