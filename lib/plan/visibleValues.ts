// Databases store values that responses cannot contain: zero dates, infinities, NaN. Responses contain null instead,
// and filters treat these values as null.

import type { Bound, Field } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../common/values.js'

/** Compares a column's stored value, even if responses show the value as null. */
export function compareStored(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  return { kind: 'compare', column, operator, values, ignoreCase, negated: false }
}

/** Joins conditions with AND. `nodes` must not be empty. */
export function joinAnd(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'and', nodes }
}

/** Joins conditions with OR. `nodes` must not be empty. */
export function joinOr(nodes: readonly Predicate[]): Predicate {
  const [only] = nodes
  return nodes.length === 1 && only !== undefined ? only : { kind: 'or', nodes }
}

type BoundSide = 'lower' | 'upper'

const SIDES: Readonly<Record<Bound['operator'], BoundSide>> = { gt: 'lower', gte: 'lower', lt: 'upper', lte: 'upper' }

/** The complement of each operator. */
export const OPPOSITE_BOUNDS: Readonly<Record<Bound['operator'], Bound['operator']>> = {
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt',
}

/** Returns the lower or the upper bounds of the values that responses can contain. */
export function boundsOf(column: Column, side: BoundSide): readonly Predicate[] {
  const { responseBounds = [] } = column.field.valueType
  return responseBounds
    .filter(({ operator }) => SIDES[operator] === side)
    .map(({ operator, value }) => compareStored(column, operator, [value]))
}

/** For each operator, the side on which its operand does not limit the values: `gt` has no upper limit. */
const OPEN_SIDES: ReadonlyMap<PositiveOperator, BoundSide> = new Map([
  ['gt', 'upper'],
  ['gte', 'upper'],
  ['lt', 'lower'],
  ['lte', 'lower'],
])

/** Compares a column, excluding values that responses show as null. */
export function compareVisible(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase = false,
): Predicate {
  const compared = compareStored(column, operator, values, ignoreCase)
  const side = column.field.valueType.responseBounds === undefined ? undefined : OPEN_SIDES.get(operator)
  return side === undefined ? compared : joinAnd([compared, ...boundsOf(column, side)])
}

/** Whether responses may show null although the column has a value. */
export function canBeShownAsNull({
  valueType: { responseBounds, hasOtherFormats },
}: Pick<Field, 'valueType'>): boolean {
  return responseBounds !== undefined || hasOtherFormats === true
}

/** Matches columns that responses show as null. */
export function matchShownAsNull(column: Column): Predicate {
  const { responseBounds = [], type, hasOtherFormats } = column.field.valueType
  const outside = responseBounds.map(({ operator, value }) => compareStored(column, OPPOSITE_BOUNDS[operator], [value]))
  const strange = hasOtherFormats === true && type === 'datetime' ? matchMalformedInstants(column) : []
  return joinOr([{ kind: 'null', column, negated: false }, ...outside, ...strange])
}

/** Matches columns that responses show with a value. */
export function matchVisible(column: Column): Predicate {
  const has: Predicate = { kind: 'null', column, negated: true }
  return joinAnd([has, ...boundsOf(column, 'lower'), ...boundsOf(column, 'upper')])
}

/**
 * Matches values that are no date-times. SQLite sorts numbers before texts. A number is a date-time in milliseconds
 * within a range. A text is a date-time if the text begins with a year.
 */
function matchMalformedInstants(column: Column): readonly Predicate[] {
  return [
    compareStored(column, 'lt', [FIRST_INSTANT]),
    joinAnd([compareStored(column, 'gt', [LAST_INSTANT]), compareStored(column, 'lt', ['0001-'])]),
    compareStored(column, 'gte', [AFTER_DIGITS]),
  ]
}

/** Sorts after every text that begins with a digit: `:` follows `9` in ASCII. */
export const AFTER_DIGITS = ':'
