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

/** The column and its operands as they are compared: folded text, bytes, or plain text. */
interface Sides {
  readonly left: (column: string) => string
  readonly right: (operand: string) => string
  readonly areBytes: boolean
}

function sidesOf({ ignoreCase, binary }: TextTraits): Sides {
  if (ignoreCase) {
    // The name of an encoding brings the collation of names along, which folds ASCII only.
    const decoded = (column: string): string => `convert_from(${column}, 'UTF8') COLLATE "default"`
    const left = (column: string): string => folded(binary ? decoded(column) : text(column))
    return { left, right: folded, areBytes: false }
  }
  if (!binary) return { left: text, right: plain, areBytes: false }
  // As text they would be read as literals of BYTEA, whose backslashes are escapes.
  return { left: plain, right: bytes, areBytes: true }
}

function bytes(expression: string): string {
  return `convert_to(${expression}, 'UTF8')`
}

type Written = (left: string, right: string) => string

function like(left: string, pattern: string): string {
  return `${left} LIKE ${pattern} ESCAPE '|'`
}

// Bytes are compared many at a time, characters one by one.
const isIn: Written = (left, right) => `position(${right} in ${left}) > 0`
const isInText: Written = (left, right) => isIn(bytes(left), bytes(right))
const endsText: Written = (left, right) => `right(${left}, length(${right})) = ${right}`
const endsBytes: Written = (left, right) => `substr(${left}, length(${left}) - length(${right}) + 1) = ${right}`

/** How what is within a text is looked for: null for the other operators. LIKE would try an end at every place. */
function within(operator: PositiveOperator, areBytes: boolean, long: boolean): Written | null {
  switch (operator) {
    case 'contains':
      return areBytes ? isIn : long ? isInText : like
    case 'startsWith':
      return like
    case 'endsWith':
      return areBytes ? endsBytes : endsText
    default:
      return null
  }
}

function textComparison(operator: PositiveOperator, traits: TextTraits): TextComparison {
  const { left, right, areBytes } = sidesOf(traits)
  const written = within(operator, areBytes, traits.long)
  if (written !== null) {
    const encode = (written === like ? LIKE_PATTERNS[operator] : undefined) ?? plain
    return { encode, write: (column, [operand = '']) => written(left(column), right(operand)) }
  }
  if (traits.ignoreCase || areBytes) {
    return { encode: plain, write: (column, operands) => compareBy(operator, left(column), operands.map(right)) }
  }
  if (operator === 'eq' || operator === 'in') {
    return {
      encode: plain,
      write: (column, operands) => {
        const exact = compareBy(
          operator,
          text(column),
          traits.padded ? operands.map((operand) => `concat(${operand})`) : operands,
        )
        // The first of the two is for the index. Where they come to the same the planner drops the second.
        return `(${compareBy(operator, column, operands)} AND ${exact})`
      },
    }
  }
  return { encode: plain, write: (column, operands) => compareBy(operator, column, operands) }
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
  interrupt: {
    write: (connection) => `SELECT pg_cancel_backend(${Number(Reflect.get(connection, 'processID'))})`,
    kills: false,
  },
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
