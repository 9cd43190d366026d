import type { Model, ModelStatic } from 'sequelize'
import type { Derivation, Field } from '../../types/field.js'
import type { Column } from '../../types/plan.js'
import { timezoneOf } from '../sequelize/dates.js'
import type { Dialect, Grouping, SumExpressions } from '../sequelize/dialect/index.js'

/** An SQL expression over a column: `value` for comparing and sorting, `read` for selecting. */
export interface ColumnExpression {
  readonly value: string
  readonly read: string
}

type ExpressionWriter = (dialect: Dialect, column: string, of: Field, timezone: string) => ColumnExpression

const sameExpression = (value: string): ColumnExpression => ({ value, read: value })

const EXPRESSION_WRITERS: Readonly<Record<Derivation, ExpressionWriter>> = {
  rows: () => sameExpression('COUNT(*)'),
  count: (_, column) => sameExpression(`COUNT(${column})`),
  distinct: (dialect, column, of) => sameExpression(`COUNT(DISTINCT ${dialect.grouping(column, of).by})`),
  sum: (dialect, column, of) => dialect.sum(column, of),
  avg: writeAverage,
  min: createExtremeWriter('MIN'),
  max: createExtremeWriter('MAX'),
  instant: (dialect, column, of) => sameExpression(dialect.instant(column, of)),
  year: createDatePartWriter('year'),
  month: createDatePartWriter('month'),
  day: createDatePartWriter('day'),
  hour: createDatePartWriter('hour'),
}

/** Writes the SQL expression of a derived field, such as a member of a JSON document. */
export function writeDerived(
  dialect: Dialect,
  column: string,
  derived: NonNullable<Field['derived']>,
  model: ModelStatic<Model>,
): ColumnExpression {
  if (derived.kind === 'member') return sameExpression(dialect.jsonMembers.value(column, derived))
  if (derived.kind === 'item') return sameExpression(dialect.jsonMembers.item(derived))
  return EXPRESSION_WRITERS[derived.kind](dialect, column, derived.source, timezoneOf(model))
}

interface ColumnContext {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
  readonly sql: (column: Column) => string
}

/** Writes the SQL that selects a column or a derived field. */
export function writeColumnRead({ dialect, model, sql }: ColumnContext, column: Column): string {
  const { derived } = column.field
  if (derived === undefined) return dialect.readExpression(sql(column), column.field)
  return writeDerived(dialect, sql({ ...column, field: derived.source }), derived, model).read
}

/** Writes the SQL that groups by a column. */
export function writeColumnGrouping({ dialect, sql }: ColumnContext, column: Column): Grouping {
  const whole = sql(column)
  const { derived, valueType } = column.field
  const isMemberText = derived?.kind === 'member' && valueType.type === 'string'
  if (derived !== undefined && !isMemberText) return { by: whole, read: whole, order: [whole] }
  const { by, read, order } = dialect.grouping(whole, column.field)
  return { by, read: read === whole ? dialect.readExpression(whole, column.field) : read, order }
}

/** Writes an average as the exact sum divided by the count. Comparisons use the double that clients read. */
function writeAverage(dialect: Dialect, column: string, of: Field): ColumnExpression {
  const sum: SumExpressions = dialect.sum(column, of)
  const count = `COUNT(${column})`
  const { type, scale = 0 } = of.valueType
  const value = `(${dialect.double(sum.units)} / ${dialect.double(scale === 0 ? count : `${count} * ${10 ** scale}`)})`
  return type === 'float' ? sameExpression(value) : { value, read: dialect.concat([sum.read, "'/'", count]) }
}

function createExtremeWriter(name: 'MIN' | 'MAX'): ExpressionWriter {
  return (dialect, column, of) => {
    const value = `${name}(${dialect.minMaxOperand(column, of)})`
    return { value, read: dialect.readExpression(value, of) }
  }
}

function createDatePartWriter(unit: 'year' | 'month' | 'day' | 'hour'): ExpressionWriter {
  return (dialect, column, of, timezone) => sameExpression(dialect.datePart(column, of, unit, timezone))
}
