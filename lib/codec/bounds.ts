import type { ValueType } from '../../types/field.js'
import type { FieldMessage, MessageCode } from '../../types/messages.js'
import { createMessage } from '../common/messages.js'
import { compareDecimals, toDecimal } from '../common/values.js'
import type { RuledField } from './codec.js'

/** Inclusive bounds with their messages; undefined for no bound. */
export interface Bounds<T> {
  readonly min: T | undefined
  readonly max: T | undefined
  readonly tooLow: FieldMessage
  readonly tooHigh: FieldMessage
}

interface BoundCodes {
  readonly both: MessageCode
  readonly min: MessageCode
  readonly max: MessageCode
}

const NUMBERS: BoundCodes = { both: 'range', min: 'min', max: 'max' }
const LENGTHS: BoundCodes = { both: 'length', min: 'min-length', max: 'max-length' }

interface OptionalRange<T> {
  readonly min: T | undefined
  readonly max: T | undefined
}

/** Returns the bounds of a string's length in characters. */
export function lengthBounds({ valueType, rules }: RuledField): Bounds<number> {
  const column = { min: undefined, max: valueType.maxLength }
  const own = { min: rules.minLength, max: rules.maxLength }
  const { minLength, maxLength } = rules.messages ?? {}
  return applyModelMessages(
    mergeBounds(column, own, (a, b) => a - b, LENGTHS),
    own,
    { min: minLength, max: maxLength },
  )
}

/** Returns the bounds of an integer or a float, exact as JavaScript numbers. */
export function numberBounds({ valueType, rules }: RuledField): Bounds<number> {
  const { min, max, maxMagnitude } = valueType
  const column = {
    min: min !== undefined ? Number(min) : maxMagnitude === undefined ? undefined : -maxMagnitude,
    max: max !== undefined ? Number(max) : maxMagnitude,
  }
  const own = { min: rules.min, max: rules.max }
  return applyModelMessages(
    mergeBounds(column, own, (a, b) => a - b),
    own,
    rules.messages,
  )
}

/** Returns the bounds of a bigint or a decimal, as canonical decimals. */
export function decimalBounds({ valueType, rules }: RuledField): Bounds<string> {
  const own = { min: rules.min, max: rules.max }
  const ruled = {
    min: own.min === undefined ? undefined : toDecimal(own.min),
    max: own.max === undefined ? undefined : toDecimal(own.max),
  }
  return applyModelMessages(mergeBounds(decimalColumnRange(valueType), ruled, compareDecimals), ruled, rules.messages)
}

function decimalColumnRange({ min, max, precision, scale = 0 }: ValueType): OptionalRange<string> {
  const lowest = min?.toString()
  if (precision === undefined) return { min: lowest, max: max?.toString() }
  const whole = '9'.repeat(Math.max(precision - scale, 0)) || '0'
  const largest = scale === 0 ? whole : `${whole}.${'9'.repeat(scale)}`
  return { min: lowest ?? `-${largest}`, max: largest }
}

/**
 * Merges the bounds of rules and column. If rules or column set both bounds, a message names both. Otherwise it names
 * only the violated bound.
 */
function mergeBounds<T extends string | number>(
  column: OptionalRange<T>,
  rules: OptionalRange<T>,
  compare: (a: T, b: T) => number,
  codes: BoundCodes = NUMBERS,
): Bounds<T> {
  const min = pickTighter(column.min, rules.min, (a, b) => compare(a, b) > 0)
  const max = pickTighter(column.max, rules.max, (a, b) => compare(a, b) < 0)
  const together = (rules.min === undefined) === (rules.max === undefined)
  if (together && min !== undefined && max !== undefined) {
    const message = createMessage(codes.both, { min, max })
    return { min, max, tooLow: message, tooHigh: message }
  }
  return {
    min,
    max,
    tooLow: createMessage(codes.min, { min: min ?? '' }),
    tooHigh: createMessage(codes.max, { max: max ?? '' }),
  }
}

/** Uses the model's own message for a bound that the model sets. */
function applyModelMessages<T>(
  bounds: Bounds<T>,
  own: OptionalRange<T>,
  messages: { readonly min?: string | undefined; readonly max?: string | undefined } = {},
): Bounds<T> {
  const { min, max } = messages
  return {
    ...bounds,
    ...(min !== undefined && own.min === bounds.min ? { tooLow: min } : {}),
    ...(max !== undefined && own.max === bounds.max ? { tooHigh: max } : {}),
  }
}

function pickTighter<T>(column: T | undefined, rule: T | undefined, isTighter: (a: T, b: T) => boolean): T | undefined {
  if (column === undefined || rule === undefined) return column ?? rule
  return isTighter(rule, column) ? rule : column
}
