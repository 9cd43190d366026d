import type { Field } from '../../types/field.js'
import type { Column, Predicate } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import type { Operands } from './sql/operands.js'

/** Returns the column without its relation path, for use in its own table. */
export function toOwnColumn(column: Column): Column {
  return { ...column, joins: [] }
}

/**
 * Converts a condition on the join model's row into a condition in the join model's table. Returns null for other
 * conditions.
 */
export function toJoinRowCondition(node: Predicate): Predicate | null {
  switch (node.kind) {
    case 'compare':
    case 'null':
      return isJoinRowColumn(node.column) ? { ...node, column: toOwnColumn(node.column) } : null
    case 'items':
    case 'itemCount':
      return isJoinRowColumn(node) ? { ...node, joins: [] } : null
    case 'absent':
      return isJoinRowColumn(node) ? { kind: node.negated ? 'always' : 'never' } : null
    default:
      return null
  }
}

function isJoinRowColumn({ joins: [join] }: Pick<Column, 'joins'>): boolean {
  return join !== undefined && join.relation.manyToMany !== null
}

/** Writes the condition that a row of columns equals one of several rows of values. */
export function writeRowMembership(
  dialect: Dialect,
  { write }: Operands,
  { fields, values }: { readonly fields: readonly Field[]; readonly values: readonly unknown[] },
  columns: readonly string[],
): string {
  const operands = values.map((value, index) => {
    const field = fields[index % fields.length]
    return field === undefined ? write(value) : dialect.operand(write(value), field)
  })
  const rows = Array.from({ length: operands.length / fields.length }, (_, row) =>
    operands.slice(row * fields.length, (row + 1) * fields.length),
  )
  return `(${columns.join(', ')}) IN ${dialect.tuples(rows)}`
}

/**
 * Writes the condition that the columns together contain every word of a text.
 * @throws TypeError if the dialect has no full-text search
 */
export function writeFullTextMatch({ fullText, name }: Dialect, columns: readonly string[], text: string): string {
  if (fullText === null) throw internalError(`the database ${name} has no full-text search`)
  return fullText.write(columns, text)
}
