// Comparisons of date-times, days and times. Columns may store more than responses show: PostgreSQL keeps microseconds, and SQLite keeps
// the format of the writer. Comparisons use the value that responses show.

import type { FilterValue } from '../../types/field.js'
import type { Column, PositiveOperator, Predicate } from '../../types/plan.js'
import { FIRST_INSTANT, LAST_INSTANT } from '../common/values.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import { BEHIND_DIGITS, boundsOf, compare, compareShown, every, isShown, some } from './shown.js'

const DAY = 86_400_000

/** Range of instants from `from` up to, but excluding, `to`. A null `to` has no upper bound. */
interface Span {
  readonly from: Date | null
  readonly to: Date | null
}

const NEVER: Predicate = Object.freeze({ kind: 'never' })

/** The range of instants that a value covers: one millisecond or one day. */
function spanOf(value: FilterValue): Span & { readonly from: Date } {
  if (value.kind === 'day') return { from: value.start, to: value.end }
  const from = value.value
  if (!(from instanceof Date)) throw new TypeError('an instant is a Date')
  const end = from.getTime() + 1
  return { from, to: end > LAST_INSTANT ? null : new Date(end) }
}

type Compare = (column: Column, span: Span & { readonly from: Date }) => Predicate

const SPANS: Readonly<Record<Exclude<ValueOperator, 'in'>, Compare>> = {
  eq: within,
  gt: (column, { to }) => (to === null ? NEVER : within(column, { from: to, to: null })),
  gte: (column, { from }) => within(column, { from, to: null }),
  lt: (column, { from }) => within(column, { from: null, to: from }),
  lte: (column, { to }) => within(column, { from: null, to }),
}

/** Compares a date-time column with instants and days. */
export function compareInstants(
  column: Column,
  operator: PositiveOperator,
  values: readonly FilterValue[],
): readonly Predicate[] {
  if (!isValueOperator(operator)) throw new TypeError(`${operator} compares text, not instants`)
  const { finer, unformatted } = column.field.valueType
  const instants = values.flatMap((value) => (value.kind === 'value' ? [value.value] : []))
  const isExact = finer === undefined && unformatted === undefined
  const exact = isExact && instants.length > 0 ? [compareShown(column, operator, instants)] : []
  const spans = isExact ? values.filter(({ kind }) => kind === 'day') : values
  return [...exact, ...spans.map((value) => SPANS[operator === 'in' ? 'eq' : operator](column, spanOf(value)))]
}

function within(column: Column, span: Span): Predicate {
  const { from, to } = span
  if (column.field.valueType.unformatted === true) return withinTexts(column, span)
  if (from === null && to === null) return isShown(column)
  return every([
    ...(from === null ? boundsOf(column, 'lower') : [compare(column, 'gte', [from])]),
    ...(to === null ? boundsOf(column, 'upper') : [compare(column, 'lt', [to])]),
  ])
}

/**
 * Predicate for date-times that are stored as text. Texts begin with a day, in any offset. A range of days lets the database use the index,
 * and the exact instant decides. Numbers are milliseconds and sort before texts.
 */
function withinTexts(column: Column, { from, to }: Span): Predicate {
  const instant = instantOf(column)
  const isInstant: Predicate = { kind: 'null', column: instant, negated: true }
  const texts = every([
    compare(column, 'gte', [from === null ? FIRST_INSTANT : dayBeside(from, -1)]),
    ...(to === null ? [] : [compare(column, 'lt', [dayBeside(to, 2)])]),
    ...(from === null ? [] : [compare(instant, 'gte', [from])]),
    to === null ? isInstant : compare(instant, 'lt', [to]),
  ])
  if (from === null) return texts
  const numbers = every([
    compare(column, 'gte', [from.getTime()]),
    compare(column, 'lt', [to === null ? LAST_INSTANT + 1 : to.getTime()]),
  ])
  return some([texts, numbers])
}

/** The column converted to an instant. */
function instantOf(column: Column): Column {
  const field = column.field.derive?.('instant')
  if (field === undefined || field === null) throw new TypeError(`${column.field.name} has no instants`)
  return { hops: column.hops, field, nullable: true }
}

function dayBeside(instant: Date, days: number): string {
  const text = new Date(instant.getTime() + days * DAY).toISOString()
  return /^\d/.test(text) ? text.slice(0, 10) : BEHIND_DIGITS
}

/** Texts of a day or a time. Responses show every text with the same beginning alike. */
interface Texts {
  readonly first: string
  /** Upper bound: exclusive, or the last text itself. */
  readonly last: string
  readonly isLastShown: boolean
}

/** Compares days and times of a column that stores more precision than responses show. */
export function compareTexts(
  column: Column,
  operator: PositiveOperator,
  values: readonly string[],
): readonly Predicate[] {
  if (!isValueOperator(operator)) throw new TypeError(`${operator} compares text, not days`)
  const { type, unformatted } = column.field.valueType
  const texts = type === 'date' ? daysOf : (text: string): Texts => timesOf(text, unformatted === true)
  return values.map((value) => TEXTS[operator === 'in' ? 'eq' : operator](column, texts(value)))
}

/** Range of texts of a day. A blank or a T follows a day, and both sort before U. */
function daysOf(day: string): Texts {
  return { first: day, last: `${day}U`, isLastShown: false }
}

function timesOf(time: string, isText: boolean): Texts {
  const first = isText && time.endsWith(':00') ? time.slice(0, -3) : time
  // 24:00:00 ends the day, so no later text exists.
  return { first, last: time.startsWith('24') ? time : `${time}.999999`, isLastShown: true }
}

const TEXTS: Readonly<Record<Exclude<ValueOperator, 'in'>, (column: Column, texts: Texts) => Predicate>> = {
  eq: (column, texts) => every([compare(column, 'gte', [texts.first]), upTo(column, texts)]),
  gt: (column, { last, isLastShown }) =>
    every([compare(column, isLastShown ? 'gt' : 'gte', [last]), ...boundsOf(column, 'upper')]),
  gte: (column, { first }) => every([compare(column, 'gte', [first]), ...boundsOf(column, 'upper')]),
  lt: (column, { first }) => every([compare(column, 'lt', [first]), ...boundsOf(column, 'lower')]),
  lte: (column, texts) => every([upTo(column, texts), ...boundsOf(column, 'lower')]),
}

function upTo(column: Column, { last, isLastShown }: Texts): Predicate {
  return compare(column, isLastShown ? 'lte' : 'lt', [last])
}
