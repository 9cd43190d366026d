import type { Bound, FilterValue } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import type { Operator } from '../../types/query.js'
import { compareToIntegerRange } from '../common/integerRange.js'
import { internalError } from '../common/internalError.js'
import { isArrayField } from '../common/jsonMembers.js'
import { ALWAYS, NEVER } from '../common/predicates.js'
import { isValueOperator, operatorInfoOf, type ValueOperator } from '../language/operators.js'
import { compareInstants, compareTexts } from './instants.js'
import {
  compareStored,
  compareVisible,
  joinOr,
  matchShownAsNull,
  matchVisible,
  OPPOSITE_BOUNDS,
} from './visibleValues.js'

/** Operands of one comparison, parsed for the field's type. */
export interface Values {
  readonly hasNull: boolean
  readonly values: readonly FilterValue[]
}

/**
 * Compares a field with values. A negated operator is the exact complement of its positive operator, also for nulls.
 */
export function compareField(
  column: Column,
  operator: Operator,
  { hasNull, values }: Values,
  ignoreCase: boolean,
): Predicate {
  const { positive, negated } = operatorInfoOf(operator)
  const { isNumericBoolean } = column.field.valueType
  if (isNumericBoolean === true) return compareBooleans(column, negated, { hasNull, values })
  const matches = compareValues(column, positive, values, ignoreCase)
  const parts = hasNull ? [matchShownAsNull(column), ...matches] : matches
  if (parts.length === 0) return negated ? ALWAYS : NEVER
  const predicate = joinOr(parts)
  return negated ? negate(predicate) : predicate
}

function compareValues(
  column: Column,
  operator: PositiveOperator,
  values: readonly FilterValue[],
  ignoreCase: boolean,
): readonly Predicate[] {
  const { type, hasMoreDigits, hasOtherFormats } = column.field.valueType
  if (type === 'datetime') return compareInstants(column, operator, values)
  const plain: PlainValue[] = []
  for (const each of values) if (each.kind === 'value') plain.push(each.value)
  if ((type === 'date' || type === 'time') && (hasMoreDigits === true || hasOtherFormats === true)) {
    return compareTexts(column, operator, plain.map(String))
  }
  return plain.length === 0 ? [] : [comparePlainValues(column, operator, plain, ignoreCase)]
}

/**
 * Compares a boolean column with the requested values among true, false and null. `negated` selects the values that
 * were not requested.
 */
function compareBooleans(column: Column, negated: boolean, { hasNull, values }: Values): Predicate {
  const hasValue = (searched: boolean): boolean =>
    values.some((value) => value.kind === 'value' && value.value === searched)
  const parts = [true, false].filter((each) => hasValue(each) !== negated).map((each) => compareBoolean(column, each))
  if (hasNull !== negated && (hasNull || column.nullable)) parts.push(matchShownAsNull(column))
  return parts.length === 0 ? NEVER : joinOr(parts)
}

/** Compares a boolean column with true or false. Every number except 0 counts as true. */
function compareBoolean(column: Column, value: boolean): Predicate {
  if (!value) return compareStored(column, 'eq', [false])
  return joinOr([compareVisible(column, 'gt', [false]), compareStored(column, 'lt', [false])])
}

function comparePlainValues(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase: boolean,
): Predicate {
  // Case is ignored only in text.
  const folds = ignoreCase && (column.field.valueType.type === 'string' || isArrayField(column.field))
  if (values.every((value) => canStore(column, value))) return compareVisible(column, operator, values, folds)
  if (!isValueOperator(operator)) throw internalError(`the text operator "${operator}" was applied to a number`)
  return UNSTORABLE_COMPARISONS[operator](column, values, folds)
}

type CompareUnstorable = (column: Column, values: readonly PlainValue[], folds: boolean) => Predicate

/** Comparisons with numbers of which the column cannot store at least one. */
const UNSTORABLE_COMPARISONS: Readonly<Record<ValueOperator, CompareUnstorable>> = {
  eq: () => NEVER,
  gt: orderComparison('gt'),
  gte: orderComparison('gte'),
  lt: orderComparison('lt'),
  lte: orderComparison('lte'),
  in: (column, values, folds) => {
    const storable = values.filter((value) => canStore(column, value))
    return storable.length === 0 ? NEVER : compareVisible(column, 'in', storable, folds)
  },
}

type OrderOperator = Bound['operator']

function orderComparison(operator: OrderOperator): CompareUnstorable {
  return (column, values) => joinOr(values.map((value) => compareUnstorable(column, operator, value)))
}

/** Compares with a number that is outside the column's range, or that has more places than the column's scale. */
function compareUnstorable(column: Column, operator: OrderOperator, value: PlainValue): Predicate {
  const side = compareToRange(column, value)
  if (side === 0) return compareBeyondScale(column, operator, String(value))
  const isMet = side > 0 === (operator === 'lt' || operator === 'lte')
  return isMet ? matchVisible(column) : NEVER
}

/** Whether the column can store a number exactly. Databases round or reject numbers that the column cannot store. */
function canStore(column: Column, value: PlainValue): boolean {
  return compareToRange(column, value) === 0 && String(value) === truncateToScale(column, value)
}

/** Returns 1 for a number above the column's range, -1 for a number below the range, and 0 for a number within. */
function compareToRange({ field }: Column, value: PlainValue): -1 | 0 | 1 {
  const { type, maxMagnitude = Number.MAX_VALUE } = field.valueType
  if (type === 'float') return Math.abs(Number(value)) > maxMagnitude ? (Number(value) > 0 ? 1 : -1) : 0
  if (type !== 'integer' && type !== 'bigint') return 0
  return compareToIntegerRange(field.valueType, BigInt(value as string | number))
}

/** Removes decimal places beyond the column's scale. Returns other values unchanged. */
function truncateToScale({ field }: Column, value: PlainValue): string {
  const { type, scale } = field.valueType
  const text = String(value)
  const point = text.indexOf('.')
  if (type !== 'decimal' || scale === undefined || point < 0) return text
  return scale === 0 ? text.slice(0, point) : text.slice(0, point + 1 + scale)
}

/**
 * Compares with a decimal that has more places than the column's scale. Uses the nearest storable decimal towards zero.
 */
function compareBeyondScale(column: Column, operator: OrderOperator, decimal: string): Predicate {
  const isMore = operator === 'gt' || operator === 'gte'
  const [more, less] = decimal.startsWith('-') ? (['gte', 'lt'] as const) : (['gt', 'lte'] as const)
  return compareVisible(column, isMore ? more : less, [truncateToScale(column, decimal)])
}

const OPPOSITE: Readonly<Partial<Record<PositiveOperator, PositiveOperator>>> = OPPOSITE_BOUNDS

/** Returns the exact complement of a predicate on one column. A null meets either the predicate or its complement. */
function negate(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'compare': {
      const opposite = OPPOSITE[predicate.operator]
      if (opposite === undefined) return { ...predicate, negated: !predicate.negated }
      const turned: Predicate = { ...predicate, operator: opposite }
      return predicate.column.nullable
        ? { kind: 'or', nodes: [turned, { kind: 'null', column: predicate.column, negated: false }] }
        : turned
    }
    case 'null':
      return { ...predicate, negated: !predicate.negated }
    case 'and':
      return { kind: 'or', nodes: predicate.nodes.map(negate) }
    case 'or':
      return { kind: 'and', nodes: predicate.nodes.map(negate) }
    case 'never':
      return ALWAYS
    case 'always':
      return NEVER
    default:
      throw internalError(`a comparison was planned as a condition of kind "${predicate.kind}"`)
  }
}
