import type { PositiveOperator } from '../../../types/plan.js'
import { compareBy, type Dialect, escapeLike, plain, type TextComparison } from './dialect.js'

const LIKE_PATTERNS: Readonly<Partial<Record<PositiveOperator, (text: string) => string>>> = {
  contains: (text) => `%${escapeLike(text)}%`,
  startsWith: (text) => `${escapeLike(text)}%`,
  endsWith: (text) => `%${escapeLike(text)}`,
}

function text(operator: PositiveOperator, ignoreCase: boolean): TextComparison {
  const pattern = LIKE_PATTERNS[operator]
  const fold = (expression: string): string => (ignoreCase ? `lower(${expression})` : expression)
  return {
    encode: pattern ?? plain,
    write: (column, operands) => {
      const sides = operands.map(fold)
      return pattern === undefined
        ? compareBy(operator, fold(column), sides)
        : `${fold(column)} LIKE ${sides[0]} ESCAPE '|'`
    },
  }
}

export const postgres: Dialect = Object.freeze<Dialect>({
  name: 'postgres',
  binds: true,
  prepares: false,
  returnsInserted: true,
  returnsUpdated: true,
  insert: 'INSERT INTO',
  queuesWrites: false,
  jsonAsText: false,
  read: (column) => column,
  operand: (placeholder) => placeholder,
  // FLOAT has eight bytes here.
  shortFloat: (value) => value,
  boolean: (value) => value,
  // PostgreSQL puts nulls last ascending; naming their place on a column without nulls would lose its index.
  order: (column, direction, { nullable, enumeration }) => {
    const term = `${enumeration ? `${column}::text` : column} ${direction === 'asc' ? 'ASC' : 'DESC'}`
    return nullable ? `${term} NULLS ${direction === 'asc' ? 'FIRST' : 'LAST'}` : term
  },
  text,
})
