import type { ValueType } from '../../../types/field.js'
import type { PositiveOperator } from '../../../types/plan.js'
import {
  compareBy,
  type Dialect,
  exists,
  LIKE_PATTERNS,
  plain,
  type TextComparison,
  type TextTraits,
} from './dialect.js'

/**
 * The column as plain text: CITEXT no longer folds, CHAR no longer pads, and a collation that folds gives way to the
 * database's own, which never does. On other columns the planner sees through it, indexes included.
 */
function text(column: string): string {
  return `${column}::text COLLATE "default"`
}

function folded(column: string): string {
  return `lower(${column})`
}

function like(column: string, pattern: string | undefined): string {
  return `${column} LIKE ${pattern} ESCAPE '|'`
}

function textComparison(operator: PositiveOperator, { ignoreCase, binary, padded }: TextTraits): TextComparison {
  const pattern = LIKE_PATTERNS[operator]
  const encode = pattern ?? plain
  if (ignoreCase) {
    return {
      encode,
      write: (column, operands) => {
        const left = folded(binary ? `convert_from(${column}, 'UTF8')` : text(column))
        const right = operands.map(folded)
        return pattern === undefined ? compareBy(operator, left, right) : like(left, right[0])
      },
    }
  }
  if (binary) {
    return {
      encode,
      write: (column, operands) => {
        // As text they would be read as literals of BYTEA, whose backslashes are escapes.
        const bytes = operands.map((operand) => `convert_to(${operand}, 'UTF8')`)
        return pattern === undefined ? compareBy(operator, column, bytes) : like(column, bytes[0])
      },
    }
  }
  if (pattern !== undefined) return { encode, write: (column, [operand]) => like(text(column), operand) }
  if (operator === 'eq' || operator === 'in') {
    return {
      encode,
      write: (column, operands) => {
        const exact = compareBy(
          operator,
          text(column),
          padded ? operands.map((operand) => `concat(${operand})`) : operands,
        )
        // The first of the two is for the index. Where they come to the same the planner drops the second.
        return `(${compareBy(operator, column, operands)} AND ${exact})`
      },
    }
  }
  return { encode, write: (column, operands) => compareBy(operator, column, operands) }
}

/** There is no UNSIGNED: Sequelize drops it. FLOAT has eight bytes. */
function column({ single: _, ...declared }: ValueType): ValueType {
  const { type, min, max } = declared
  const isUnsigned = (type === 'integer' || type === 'bigint') && min === 0n && max !== undefined
  return isUnsigned ? { ...declared, max: max >> 1n } : declared
}

export const postgres: Dialect = Object.freeze<Dialect>({
  name: 'postgres',
  refuse: () => null,
  column,
  binds: true,
  prepares: false,
  returnsInserted: true,
  returnsUpdated: true,
  insert: 'INSERT INTO',
  insertedKeys: null,
  queuesWrites: false,
  longestAlias: 63,
  jsonAsText: false,
  read: (column) => column,
  losesDigits: () => false,
  operand: (placeholder) => placeholder,
  boolean: (value) => value,
  exists,
  // PostgreSQL puts nulls last ascending; naming their place on a column without nulls would lose its index.
  order: (column, direction, { nullable, enumeration }) => {
    const term = `${enumeration ? `${column}::text` : column} ${direction === 'asc' ? 'ASC' : 'DESC'}`
    return nullable ? `${term} NULLS ${direction === 'asc' ? 'FIRST' : 'LAST'}` : term
  },
  text: textComparison,
})
