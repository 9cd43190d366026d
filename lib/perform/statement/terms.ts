// What the texts of statements that read are made of.

import type { Column, OrderKey } from '../../../types/plan.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { literal } from '../../sequelize/sql.js'
import { every } from '../../sequelize/tree.js'
import { hasNone, hasValue } from '../presence.js'
import { type Operands, type Scope, WhereWriter } from '../where.js'
import type { OutlinePredicate, Slots } from './outline.js'
import { placeholder } from './pieces.js'

/** Writes conditions with places for their values. */
export function writerOf(dialect: Dialect): WhereWriter {
  const operands: Operands = {
    sql: placeholder,
    member: (slot, field) => literal(dialect.operand(placeholder(slot), field)),
  }
  return new WhereWriter(dialect, operands)
}

export function whereOf(writer: WhereWriter, where: OutlinePredicate | null, scope: Scope): { where?: WhereFragment } {
  return where === null ? {} : { where: every([writer.where(where, scope)]) }
}

/** Whether an order by a column has nulls beside values where the condition holds. */
export function isMixed(column: Column<Slots>, where: OutlinePredicate | null): boolean {
  return column.nullable && (where === null || !(hasValue(where, column) || hasNone(where, column)))
}

/**
 * A term of ORDER BY. Where the filter leaves no nulls, or nothing else, there is no place to be named for them: with one, an
 * index would not serve.
 */
export function termOf(
  dialect: Dialect,
  sql: string,
  { column, direction }: OrderKey<Slots>,
  where: OutlinePredicate | null,
): string {
  const enumeration = column.field.valueType.type === 'enum'
  return dialect.order(sql, direction, { nullable: isMixed(column, where), enumeration })
}

export function limitOf({ first, count }: Slots): string {
  return count === 0 ? '1' : placeholder(first)
}

export function expression(sql: string, alias: string): [never, string] {
  return [literal(sql) as never, alias]
}
