import type { ValueType } from '../../types/field.js'
import type { MessageCode, Told } from '../../types/messages.js'
import { fault } from '../common/messages.js'
import { compareDecimals, decimalOf } from '../common/values.js'
import type { RuledField } from './codec.js'

/** Inclusive bounds with their messages; undefined for no bound. */
export interface Bounds<T> {
  readonly min: T | undefined
  readonly max: T | undefined
  readonly tooLow: Told
  readonly tooHigh: Told
}

interface Codes {
  readonly both: MessageCode
  readonly min: MessageCode
  readonly max: MessageCode
}

const NUMBERS: Codes = { both: 'range', min: 'min', max: 'max' }
const LENGTHS: Codes = { both: 'length', min: 'min-length', max: 'max-length' }

interface Range<T> {
  readonly min: T | undefined
  readonly max: T | undefined
}

/** The bounds of a string's length in characters. */
export function lengthBounds({ valueType, rules }: RuledField): Bounds<number> {
  const column = { min: undefined, max: valueType.maxLength }
  const own = { min: rules.minLength, max: rules.maxLength }
  const { minLength, maxLength } = rules.says ?? {}
  return said(
    merge(column, own, (a, b) => a - b, LENGTHS),
    own,
    { min: minLength, max: maxLength },
  )
}

/** The bounds of an integer or a float, exact as JavaScript numbers. */
export function numberBounds({ valueType, rules }: RuledField): Bounds<number> {
  const { min, max, maxMagnitude } = valueType
  const column = {
    min: min !== undefined ? Number(min) : maxMagnitude === undefined ? undefined : -maxMagnitude,
    max: max !== undefined ? Number(max) : maxMagnitude,
  }
  const own = { min: rules.min, max: rules.max }
  return said(
    merge(column, own, (a, b) => a - b),
    own,
    rules.says,
  )
}

/** The bounds of a bigint or a decimal, as canonical decimals. */
export function decimalBounds({ valueType, rules }: RuledField): Bounds<string> {
  const own = { min: rules.min, max: rules.max }
  const ruled = {
    min: own.min === undefined ? undefined : decimalOf(own.min),
    max: own.max === undefined ? undefined : decimalOf(own.max),
  }
  return said(merge(decimalColumn(valueType), ruled, compareDecimals), ruled, rules.says)
}

function decimalColumn({ min, max, precision, scale = 0 }: ValueType): Range<string> {
  const lowest = min?.toString()
  if (precision === undefined) return { min: lowest, max: max?.toString() }
  const whole = '9'.repeat(Math.max(precision - scale, 0)) || '0'
  const largest = scale === 0 ? whole : `${whole}.${'9'.repeat(scale)}`
  return { min: lowest ?? `-${largest}`, max: largest }
}

/**
 * Merges the bounds of rules and column. The message names both bounds if they have the same origin, else only the
 * violated one.
 */
function merge<T extends string | number>(
  column: Range<T>,
  rules: Range<T>,
  compare: (a: T, b: T) => number,
  codes: Codes = NUMBERS,
): Bounds<T> {
  const min = pick(column.min, rules.min, (a, b) => compare(a, b) > 0)
  const max = pick(column.max, rules.max, (a, b) => compare(a, b) < 0)
  const together = (rules.min === undefined) === (rules.max === undefined)
  if (together && min !== undefined && max !== undefined) {
    const between = fault(codes.both, { min, max })
    return { min, max, tooLow: between, tooHigh: between }
  }
  return { min, max, tooLow: fault(codes.min, { min: min ?? '' }), tooHigh: fault(codes.max, { max: max ?? '' }) }
}

/** The model's own message for a bound that the model sets. */
function said<T>(
  bounds: Bounds<T>,
  own: Range<T>,
  says: { readonly min?: string | undefined; readonly max?: string | undefined } = {},
): Bounds<T> {
  const { min, max } = says
  return {
    ...bounds,
    ...(min !== undefined && own.min === bounds.min ? { tooLow: min } : {}),
    ...(max !== undefined && own.max === bounds.max ? { tooHigh: max } : {}),
  }
}

function pick<T>(column: T | undefined, rule: T | undefined, isTighter: (a: T, b: T) => boolean): T | undefined {
  if (column === undefined || rule === undefined) return column ?? rule
  return isTighter(rule, column) ? rule : column
}
