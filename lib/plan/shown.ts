// Databases hold values that answers cannot show: zero dates, infinities, NaN. Answers show them as null, and filters take them for it.

import type { Bound, Field } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../common/values.js'

/** A comparison of a column as the database has it. */
export function compare(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  return { kind: 'compare', column, operator, values, ignoreCase, negated: false }
}

/** All of the conditions, of which there is at least one. */
export function every(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'and', nodes }
}

/** Any of the conditions, of which there is at least one. */
export function some(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'or', nodes }
}

type Side = 'lower' | 'upper'

const SIDES: Readonly<Record<Bound['operator'], Side>> = { gt: 'lower', gte: 'lower', lt: 'upper', lte: 'upper' }

const OUTSIDE: Readonly<Record<Bound['operator'], Bound['operator']>> = { gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' }

/** The conditions of values that answers show, on one side of a comparison. */
export function boundsOf(column: Column, side: Side): readonly Predicate[] {
  const { shown = [] } = column.field.valueType
  return shown
    .filter(({ operator }) => SIDES[operator] === side)
    .map(({ operator, value }) => compare(column, operator, [value]))
}

/** The side on which a comparison has no end. */
const OPEN: ReadonlyMap<PositiveOperator, Side> = new Map([
  ['gt', 'upper'],
  ['gte', 'upper'],
  ['lt', 'lower'],
  ['lte', 'lower'],
])

/** A comparison that no value meets which answers show as null. */
export function compareShown(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  const side = OPEN.get(operator)
  return every([compare(column, operator, values, ignoreCase), ...(side === undefined ? [] : boundsOf(column, side))])
}

/** Whether answers may show null where the column has a value. */
export function mayHide({ valueType: { shown, unformatted } }: Pick<Field, 'valueType'>): boolean {
  return shown !== undefined || unformatted === true
}

/** Answers show null. */
export function isShownAsNull(column: Column): Predicate {
  const { shown = [], type, unformatted } = column.field.valueType
  const outside = shown.map(({ operator, value }) => compare(column, OUTSIDE[operator], [value]))
  const strange = unformatted === true && type === 'datetime' ? strangeInstants(column) : []
  return some([{ kind: 'null', column, negated: false }, ...outside, ...strange])
}

/** Answers show a value. */
export function isShown(column: Column): Predicate {
  const has: Predicate = { kind: 'null', column, negated: true }
  return every([has, ...boundsOf(column, 'lower'), ...boundsOf(column, 'upper')])
}

/** SQLite orders numbers, which are milliseconds, before texts, which begin with a year. */
function strangeInstants(column: Column): readonly Predicate[] {
  return [
    compare(column, 'lt', [FIRST_INSTANT]),
    every([compare(column, 'gt', [LAST_INSTANT]), compare(column, 'lt', ['0001-'])]),
    compare(column, 'gte', [BEHIND_DIGITS]),
  ]
}

export const BEHIND_DIGITS = ':'
