import type { Column, KeysetPredicate } from '../../types/plan.js'
import type { Direction } from '../../types/query.js'
import type { Dialect } from '../sequelize/dialect/index.js'

/**
 * Writes a keyset predicate as SQL: rows after a position in an order. `columnSql` and `valueSql` write columns and
 * values.
 */
export function writeKeysetPredicate(
  { orderKeys: { term, operand, hasIndexedRowValues } }: Dialect,
  { keys, inclusive, values }: KeysetPredicate,
  columnSql: (column: Column) => string,
  valueSql: (value: unknown) => string,
): string {
  let next = 0
  const written = keys.map(({ column, direction, isNull }): KeysetTerm => {
    const { field, nullable } = column
    const sql = term(columnSql(column), field.valueType.type === 'enum')
    if (isNull) return { sql, direction, nullable, operand: null }
    next += 1
    return { sql, direction, nullable, operand: operand(valueSql(values[next - 1]), field) }
  })
  return combineKeysetTerms(written, inclusive, hasIndexedRowValues)
}

/** One sort key, with its value at the position. */
interface KeysetTerm {
  readonly sql: string
  readonly direction: Direction
  readonly nullable: boolean
  /** SQL of the value at the position, or null if the value is null. */
  readonly operand: string | null
}

/**
 * Combines the terms into one condition, with nulls sorted lowest. A bound on the leading keys is added with AND, so
 * that the database uses an index.
 */
function combineKeysetTerms(keys: readonly KeysetTerm[], inclusive: boolean, rowValues: boolean): string {
  const first = findLeadingTerms(keys, rowValues)
  const whole = writeAlternatives(keys, inclusive, rowValues)
  const [only] = first
  if (only === undefined || first.length === keys.length) return whole
  return `(${writeRowComparison(first, only.direction, true)} AND ${whole})`
}

/**
 * Returns the leading keys that can be compared as one row value: with equal directions, and with values that no null
 * can follow.
 */
function findLeadingTerms(keys: readonly KeysetTerm[], rowValues: boolean): readonly KeysetTerm[] {
  const [first] = keys
  const end = keys.findIndex(
    (key, index) =>
      key.operand === null ||
      key.direction !== first?.direction ||
      (key.nullable && key.direction === 'desc') ||
      (index > 0 && !rowValues),
  )
  return end < 0 ? keys : keys.slice(0, end)
}

function writeAlternatives(keys: readonly KeysetTerm[], inclusive: boolean, rowValues: boolean): string {
  const run = findLeadingTerms(keys, rowValues)
  const [key] = keys
  if (key === undefined) return inclusive ? '1 = 1' : '1 = 0'
  if (run.length === 0) return writeNullAlternative(key, keys.slice(1), inclusive, rowValues)
  const rest = keys.slice(run.length)
  if (rest.length === 0) return writeRowComparison(run, key.direction, inclusive)
  const equal = run.map(({ sql, operand }) => `${sql} = ${operand}`)
  return `(${writeRowComparison(run, key.direction, false)} OR (${[...equal, writeAlternatives(rest, inclusive, rowValues)].join(' AND ')}))`
}

/** Writes the condition for rows after a null, or after a value that nulls may follow. */
function writeNullAlternative(
  { sql, direction, operand }: KeysetTerm,
  rest: readonly KeysetTerm[],
  inclusive: boolean,
  rowValues: boolean,
): string {
  const further = writeAlternatives(rest, inclusive, rowValues)
  if (operand === null) {
    const same = `(${sql} IS NULL AND ${further})`
    return direction === 'asc' ? `(${sql} IS NOT NULL OR ${same})` : same
  }
  return `(${sql} < ${operand} OR ${sql} IS NULL OR (${sql} = ${operand} AND ${further}))`
}

function writeRowComparison(keys: readonly KeysetTerm[], direction: Direction, inclusive: boolean): string {
  const symbol = `${direction === 'asc' ? '>' : '<'}${inclusive ? '=' : ''}`
  const [only] = keys
  if (keys.length === 1 && only !== undefined) return `${only.sql} ${symbol} ${only.operand}`
  return `(${keys.map(({ sql }) => sql).join(', ')}) ${symbol} (${keys.map(({ operand }) => operand).join(', ')})`
}
