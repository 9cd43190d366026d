// Clauses that all reading statements share.

import type { Column, OrderKey, Predicate } from '../../../types/plan.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { literal } from '../../sequelize/sql.js'
import { every } from '../../sequelize/tree.js'
import { hasNone, hasValue } from '../presence.js'
import type { Scope, WhereWriter } from '../where.js'
import type { Operands } from './operands.js'

export function whereOf(writer: WhereWriter, where: Predicate | null, scope: Scope): { where?: WhereFragment } {
  return where === null ? {} : { where: every([writer.where(where, scope)]) }
}

/** Whether a sort column has both nulls and values under the condition. */
export function isMixed(column: Column, where: Predicate | null): boolean {
  return column.nullable && (where === null || !(hasValue(where, column) || hasNone(where, column)))
}

/**
 * A term of ORDER BY. If the filter leaves only values or only nulls, NULLS FIRST/LAST is omitted, because an index
 * would not serve it.
 */
export function termOf(
  dialect: Dialect,
  sql: string,
  { column, direction }: OrderKey,
  where: Predicate | null,
): string {
  const enumeration = column.field.valueType.type === 'enum'
  return dialect.order(sql, direction, { nullable: isMixed(column, where), enumeration })
}

/** Placeholders of LIMIT and OFFSET. */
export interface Window {
  readonly limit: string
  /** null if no rows are skipped. */
  readonly offset: string | null
}

/** Without values the limit is one row. */
export function windowOf(operands: Operands, values: readonly unknown[]): Window {
  const [limit, offset] = values
  return {
    limit: values.length === 0 ? '1' : operands.sql(limit),
    offset: values.length < 2 ? null : operands.sql(offset),
  }
}

export function expression(sql: string, alias: string): readonly [ReturnType<typeof literal>, string] {
  return [literal(sql), alias]
}
