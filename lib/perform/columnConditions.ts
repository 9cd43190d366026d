import type { Field, ItemOf } from '../../types/field.js'
import type { Column, ComparePredicate, Join, Predicate, TuplesPredicate } from '../../types/plan.js'
import type { Dialect } from '../sequelize/dialect/index.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { literal, writeCondition } from '../sequelize/sql.js'
import { compareColumn, joinAnd } from '../sequelize/whereTree.js'
import { writeColumn } from './childSelect.js'
import { encodeValue } from './sql/encode.js'
import type { TableContext } from './tableContext.js'

/** Returns the model that a column belongs to. */
export function modelAtEnd(
  { joins }: Pick<Column, 'joins'>,
  { model }: Pick<TableContext, 'model'>,
): TableContext['model'] {
  return joins.at(-1)?.relation.association.target ?? model
}

/** Whether Sequelize would parse the column's name as a path. */
export function isPathName({ field }: Column): boolean {
  return /[.$]/.test(field.column)
}

/** Returns the array column whose items a predicate compares. */
export function arrayColumn(joins: readonly Join[], { source: field }: ItemOf): Column {
  return { joins, field, nullable: true }
}

/** Converts a condition by column name to SQL text with the table's alias. */
export function toTextFragment({ model, alias }: TableContext, where: WhereFragment): WhereFragment {
  return joinAnd([literal(`(${writeCondition(model, where, alias)})`)])
}

/** Writes the condition that an attribute is in a subquery (`rows`). */
export function writeIn(scope: TableContext, attribute: string, rows: string): WhereFragment {
  return scope.usesAttributes === true
    ? compareColumn(attribute, 'in', literal(`(${rows})`), false)
    : literal(`${writeColumn(scope, attribute)} IN (${rows})`)
}

/** Whether a condition on array items is an equality, which an index over the array serves. */
export function isEquality(condition: Predicate): condition is ComparePredicate {
  if (condition.kind !== 'compare' || condition.negated || condition.ignoreCase) return false
  return condition.operator === 'eq' || condition.operator === 'in'
}

/** Encodes a flat list of tuple values. The value at `index` belongs to the field at `index % fields.length`. */
export function encodeTuples(
  dialect: Dialect,
  model: TableContext['model'],
  fields: readonly Field[],
  values: TuplesPredicate['values'],
): readonly unknown[] {
  return values.map((value, index) => {
    const field = fields[index % fields.length]
    return field === undefined ? value : encodeValue(dialect, model, field, value)
  })
}
