// Databases store values that responses cannot show: zero dates, infinities, NaN. Responses show null instead, and filters treat them as
// null.

import type { Bound, Field } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../common/values.js'

/** Compares a column's stored value. */
export function compare(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  return { kind: 'compare', column, operator, values, ignoreCase, negated: false }
}

/** Conjunction of at least one condition. */
export function every(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'and', nodes }
}

/** Disjunction of at least one condition. */
export function some(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'or', nodes }
}

type Side = 'lower' | 'upper'

const SIDES: Readonly<Record<Bound['operator'], Side>> = { gt: 'lower', gte: 'lower', lt: 'upper', lte: 'upper' }

const OUTSIDE: Readonly<Record<Bound['operator'], Bound['operator']>> = { gt: 'lte', gte: 'lt', lt: 'gte', lte: 'gt' }

/** Bounds of the values that responses show, for one side of a comparison. */
export function boundsOf(column: Column, side: Side): readonly Predicate[] {
  const { shown = [] } = column.field.valueType
  return shown
    .filter(({ operator }) => SIDES[operator] === side)
    .map(({ operator, value }) => compare(column, operator, [value]))
}

/** The unbounded side of a comparison. */
const OPEN: ReadonlyMap<PositiveOperator, Side> = new Map([
  ['gt', 'upper'],
  ['gte', 'upper'],
  ['lt', 'lower'],
  ['lte', 'lower'],
])

/** A comparison that excludes values that responses show as null. */
export function compareShown(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  const side = OPEN.get(operator)
  return every([compare(column, operator, values, ignoreCase), ...(side === undefined ? [] : boundsOf(column, side))])
}

/** Whether responses may show null although the column has a value. */
export function mayHide({ valueType: { shown, unformatted } }: Pick<Field, 'valueType'>): boolean {
  return shown !== undefined || unformatted === true
}

/** Predicate for columns that responses show as null. */
export function isShownAsNull(column: Column): Predicate {
  const { shown = [], type, unformatted } = column.field.valueType
  const outside = shown.map(({ operator, value }) => compare(column, OUTSIDE[operator], [value]))
  const strange = unformatted === true && type === 'datetime' ? strangeInstants(column) : []
  return some([{ kind: 'null', column, negated: false }, ...outside, ...strange])
}

/** Predicate for columns that responses show with a value. */
export function isShown(column: Column): Predicate {
  const has: Predicate = { kind: 'null', column, negated: true }
  return every([has, ...boundsOf(column, 'lower'), ...boundsOf(column, 'upper')])
}

/** Predicates for malformed date-times. SQLite sorts numbers (milliseconds) before texts, which begin with a year. */
function strangeInstants(column: Column): readonly Predicate[] {
  return [
    compare(column, 'lt', [FIRST_INSTANT]),
    every([compare(column, 'gt', [LAST_INSTANT]), compare(column, 'lt', ['0001-'])]),
    compare(column, 'gte', [BEHIND_DIGITS]),
  ]
}

export const BEHIND_DIGITS = ':'
