import type { Model, ModelStatic } from 'sequelize'
import type { Derivation, Field } from '../../types/field.js'
import type { Column } from '../../types/plan.js'
import { timezoneOf } from '../sequelize/dates.js'
import type { Dialect, Grouping, Sum } from '../sequelize/dialect/index.js'

/** An SQL expression over a column: `value` for comparing and sorting, `read` for selecting. */
export interface Expression {
  readonly value: string
  readonly read: string
}

type Writer = (dialect: Dialect, column: string, of: Field, timezone: string) => Expression

const same = (value: string): Expression => ({ value, read: value })

const WRITERS: Readonly<Record<Derivation, Writer>> = {
  rows: () => same('COUNT(*)'),
  count: (_, column) => same(`COUNT(${column})`),
  distinct: (dialect, column, of) => same(`COUNT(DISTINCT ${dialect.group(column, of).by})`),
  sum: (dialect, column, of) => dialect.sum(column, of),
  avg: average,
  min: extreme('MIN'),
  max: extreme('MAX'),
  instant: (dialect, column, of) => same(dialect.instant(column, of)),
  year: partOf('year'),
  month: partOf('month'),
  day: partOf('day'),
  hour: partOf('hour'),
}

/** Writes the SQL of a derived field. */
export function derivedOf(
  dialect: Dialect,
  column: string,
  derived: NonNullable<Field['derived']>,
  model: ModelStatic<Model>,
): Expression {
  if (derived.what === 'member') return same(dialect.members.value(column, derived))
  if (derived.what === 'item') return same(dialect.members.item(derived))
  return WRITERS[derived.what](dialect, column, derived.of, timezoneOf(model))
}

/** Context for writing columns of a statement. */
interface Place {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
  readonly sql: (column: Column) => string
}

/** The SQL that selects a column or a derived field. */
export function readOf({ dialect, model, sql }: Place, column: Column): string {
  const { derived } = column.field
  if (derived === undefined) return dialect.read(sql(column), column.field)
  return derivedOf(dialect, sql({ ...column, field: derived.of }), derived, model).read
}

/** The SQL that groups by a column. */
export function groupOf({ dialect, sql }: Place, column: Column): Grouping {
  const whole = sql(column)
  if (column.field.derived !== undefined) return { by: whole, read: whole, order: [whole] }
  const { by, read, order } = dialect.group(whole, column.field)
  return { by, read: read === whole ? dialect.read(whole, column.field) : read, order }
}

/** The average is compared as the double that clients read. It is computed from the exact sum. */
function average(dialect: Dialect, column: string, of: Field): Expression {
  const sum: Sum = dialect.sum(column, of)
  const count = `COUNT(${column})`
  const { type, scale = 0 } = of.valueType
  const value = `(${dialect.double(sum.units)} / ${dialect.double(scale === 0 ? count : `${count} * ${10 ** scale}`)})`
  return type === 'float' ? same(value) : { value, read: dialect.concat([sum.read, "'/'", count]) }
}

function extreme(name: 'MIN' | 'MAX'): Writer {
  return (dialect, column, of) => {
    const value = `${name}(${dialect.comparable(column, of)})`
    return { value, read: dialect.read(value, of) }
  }
}

function partOf(unit: 'year' | 'month' | 'day' | 'hour'): Writer {
  return (dialect, column, of, timezone) => same(dialect.datePart(column, of, unit, timezone))
}
