// Clauses that several reading statements share.

import type { Model, ModelStatic } from 'sequelize'
import type { Column, OrderKey, Predicate } from '../../../types/plan.js'
import { typesOf } from '../../sequelize/columnTypes.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import type { WhereFragment } from '../../sequelize/internals.js'
import { quote } from '../../sequelize/sql.js'
import { cachedList } from '../../sequelize/sqlCache.js'
import { joinAnd } from '../../sequelize/whereTree.js'
import { hasValue, isNull } from '../presentTables.js'
import type { TableContext } from '../tableContext.js'
import type { WhereWriter } from '../where.js'
import type { Operands } from './operands.js'
import { columnAlias } from './row.js'

export function buildWhere(
  writer: WhereWriter,
  where: Predicate | null,
  scope: TableContext,
): { where?: WhereFragment } {
  return where === null ? {} : { where: joinAnd([writer.writeWhere(where, scope)]) }
}

/** Whether a sort column can have both nulls and values under the condition. */
export function hasMixedNulls(column: Column, where: Predicate | null): boolean {
  return column.nullable && (where === null || !(hasValue(where, column) || isNull(where, column)))
}

/**
 * Writes a term of ORDER BY. Omits NULLS FIRST/LAST if the filter leaves only values or only nulls, because an index
 * would not serve the term.
 */
export function writeOrderTerm(
  dialect: Dialect,
  sql: string,
  { column, direction }: OrderKey,
  where: Predicate | null,
): string {
  const enumeration = column.field.valueType.type === 'enum'
  return dialect.orderTerm(sql, direction, { nullable: hasMixedNulls(column, where), enumeration })
}

/** Placeholders of LIMIT and OFFSET. */
export interface LimitPlaceholders {
  readonly limit: string
  /** null if the statement skips no rows. */
  readonly offset: string | null
}

/** Writes LIMIT and OFFSET. The limit is one row if `values` is empty. */
export function writeLimits(operands: Operands, values: readonly unknown[]): LimitPlaceholders {
  const [limit, offset] = values
  return {
    limit: values.length === 0 ? '1' : operands.write(limit),
    offset: values.length < 2 ? null : operands.write(offset),
  }
}

export function aliasExpression(model: ModelStatic<Model>, sql: string, alias: string): string {
  return `${sql} AS ${quote(model, alias)}`
}

/** Writes the list of a SELECT's columns, with the aliases that `columnAlias` names. */
export function writeColumnList(
  dialect: Dialect,
  writer: WhereWriter,
  columns: readonly Column[],
  root: TableContext,
): string {
  const { model, alias } = root
  return cachedList(columns, { dialect, model, alias, types: typesOf(model) }, () =>
    columns
      .map((column, index) => aliasExpression(model, writer.writeRead(column, root), columnAlias(index)))
      .join(', '),
  )
}
