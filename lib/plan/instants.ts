// Comparisons of date-times, days and times. Columns may store more than responses contain: PostgreSQL keeps
// microseconds, and SQLite keeps the format of the writer. Comparisons use the value of the response.

import type { FilterValue } from '../../types/field.js'
import type { Column, PositiveOperator, Predicate } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { NEVER } from '../common/predicates.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../common/values.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import {
  AFTER_DIGITS,
  boundsOf,
  compareStored,
  compareVisible,
  joinAnd,
  joinOr,
  matchVisible,
} from './visibleValues.js'

const DAY = 86_400_000

/** Range of instants from `from` up to, but excluding, `to`. null: no bound. */
interface InstantRange {
  readonly from: Date | null
  readonly to: Date | null
}

/** Returns the range of instants that a value covers: one millisecond or one day. */
function instantRangeOf(value: FilterValue): InstantRange & { readonly from: Date } {
  if (value.kind === 'day') return { from: value.start, to: value.end }
  const from = value.value
  if (!(from instanceof Date)) throw internalError('a date-time is compared with a value that is not a Date')
  const end = from.getTime() + 1
  return { from, to: end > LAST_INSTANT ? null : new Date(end) }
}

type CompareInstants = (column: Column, span: InstantRange & { readonly from: Date }) => Predicate

const INSTANT_COMPARISONS: Readonly<Record<Exclude<ValueOperator, 'in'>, CompareInstants>> = {
  eq: matchInstantRange,
  gt: (column, { to }) => (to === null ? NEVER : matchInstantRange(column, { from: to, to: null })),
  gte: (column, { from }) => matchInstantRange(column, { from, to: null }),
  lt: (column, { from }) => matchInstantRange(column, { from: null, to: from }),
  lte: (column, { to }) => matchInstantRange(column, { from: null, to }),
}

/** Compares a date-time column with instants and days. */
export function compareInstants(
  column: Column,
  operator: PositiveOperator,
  values: readonly FilterValue[],
): readonly Predicate[] {
  if (!isValueOperator(operator)) throw internalError(`the text operator "${operator}" was applied to a date-time`)
  const { hasMoreDigits, hasOtherFormats } = column.field.valueType
  const instants = values.flatMap((value) => (value.kind === 'value' ? [value.value] : []))
  const isExact = hasMoreDigits === undefined && hasOtherFormats === undefined
  const exact = isExact && instants.length > 0 ? [compareVisible(column, operator, instants)] : []
  const spans = isExact ? values.filter(({ kind }) => kind === 'day') : values
  return [
    ...exact,
    ...spans.map((value) => INSTANT_COMPARISONS[operator === 'in' ? 'eq' : operator](column, instantRangeOf(value))),
  ]
}

function matchInstantRange(column: Column, span: InstantRange): Predicate {
  const { from, to } = span
  if (column.field.valueType.hasOtherFormats === true) return matchInstantTexts(column, span)
  if (from === null && to === null) return matchVisible(column)
  return joinAnd([
    ...(from === null ? boundsOf(column, 'lower') : [compareStored(column, 'gte', [from])]),
    ...(to === null ? boundsOf(column, 'upper') : [compareStored(column, 'lt', [to])]),
  ])
}

/**
 * Matches date-times that are stored as text. Texts begin with a day, in any offset. A range of days lets the database
 * use the index, and the exact instant decides. Numbers are milliseconds and sort before texts.
 */
function matchInstantTexts(column: Column, { from, to }: InstantRange): Predicate {
  const instant = toInstantColumn(column)
  const isInstant: Predicate = { kind: 'null', column: instant, negated: true }
  const texts = joinAnd([
    compareStored(column, 'gte', [from === null ? FIRST_INSTANT : dayTextNear(from, -1)]),
    ...(to === null ? [] : [compareStored(column, 'lt', [dayTextNear(to, 2)])]),
    ...(from === null ? [] : [compareStored(instant, 'gte', [from])]),
    to === null ? isInstant : compareStored(instant, 'lt', [to]),
  ])
  if (from === null) return texts
  const numbers = joinAnd([
    compareStored(column, 'gte', [from.getTime()]),
    compareStored(column, 'lt', [to === null ? LAST_INSTANT + 1 : to.getTime()]),
  ])
  return joinOr([texts, numbers])
}

/** Returns the column converted to an instant. */
function toInstantColumn(column: Column): Column {
  const field = column.field.derive?.('instant')
  if (field === undefined || field === null)
    throw internalError(`the field "${column.field.name}" cannot be converted to a date-time`)
  return { joins: column.joins, field, nullable: true }
}

function dayTextNear(instant: Date, days: number): string {
  const text = new Date(instant.getTime() + days * DAY).toISOString()
  return /^\d/.test(text) ? text.slice(0, 10) : AFTER_DIGITS
}

/** Range of texts for one day or one time. Responses contain one value for all these texts. */
interface TextRange {
  readonly first: string
  /** Upper bound, which is excluded unless `isLastIncluded` is true. */
  readonly last: string
  readonly isLastIncluded: boolean
}

/** Compares days and times of a column that stores more precision than responses contain. */
export function compareTexts(
  column: Column,
  operator: PositiveOperator,
  values: readonly string[],
): readonly Predicate[] {
  if (!isValueOperator(operator)) throw internalError(`the text operator "${operator}" was applied to a date or a time`)
  const { type, hasOtherFormats } = column.field.valueType
  const texts = type === 'date' ? daysOf : (text: string): TextRange => timesOf(text, hasOtherFormats === true)
  return values.map((value) => TEXTS[operator === 'in' ? 'eq' : operator](column, texts(value)))
}

/** Returns the range of texts of a day. A blank or a T follows a day, and both sort before U. */
function daysOf(day: string): TextRange {
  return { first: day, last: `${day}U`, isLastIncluded: false }
}

function timesOf(time: string, isText: boolean): TextRange {
  const first = isText && time.endsWith(':00') ? time.slice(0, -3) : time
  // 24:00:00 ends the day, so no later text exists.
  return { first, last: time.startsWith('24') ? time : `${time}.999999`, isLastIncluded: true }
}

const TEXTS: Readonly<Record<Exclude<ValueOperator, 'in'>, (column: Column, texts: TextRange) => Predicate>> = {
  eq: (column, texts) => joinAnd([compareStored(column, 'gte', [texts.first]), matchUpperBound(column, texts)]),
  gt: (column, { last, isLastIncluded }) =>
    joinAnd([compareStored(column, isLastIncluded ? 'gt' : 'gte', [last]), ...boundsOf(column, 'upper')]),
  gte: (column, { first }) => joinAnd([compareStored(column, 'gte', [first]), ...boundsOf(column, 'upper')]),
  lt: (column, { first }) => joinAnd([compareStored(column, 'lt', [first]), ...boundsOf(column, 'lower')]),
  lte: (column, texts) => joinAnd([matchUpperBound(column, texts), ...boundsOf(column, 'lower')]),
}

function matchUpperBound(column: Column, { last, isLastIncluded }: TextRange): Predicate {
  return compareStored(column, isLastIncluded ? 'lte' : 'lt', [last])
}
