import type { FilterValue } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import type { Operator } from '../../types/query.js'
import { beyondIntegers } from '../common/bounds.js'
import { isArray } from '../common/members.js'
import { type Visits, visit } from '../common/visit.js'
import { operatorInfo } from '../language/operators.js'
import { compareInstants, compareTexts } from './moments.js'
import { compare, compareShown, isShown, isShownAsNull, some } from './shown.js'

/** The operands of one comparison, read for the field's type. */
export interface Values {
  readonly hasNull: boolean
  readonly values: readonly FilterValue[]
}

/** A field compared with values. Negated operators are the exact complement of the positive ones, null included. */
export function compareField(
  column: Column,
  operator: Operator,
  { hasNull, values }: Values,
  ignoreCase: boolean,
): Predicate {
  const { positive, negated } = operatorInfo(operator)
  const { loose } = column.field.valueType
  if (loose === true) return compareBooleans(column, negated, { hasNull, values })
  const parts = [...(hasNull ? [isShownAsNull(column)] : []), ...compareValues(column, positive, values, ignoreCase)]
  if (parts.length === 0) return negated ? ALWAYS : NEVER
  const predicate = some(parts)
  return negated ? negate(predicate) : predicate
}

const NEVER: Predicate = Object.freeze({ kind: 'never' })
const ALWAYS: Predicate = Object.freeze({ kind: 'always' })

function compareValues(
  column: Column,
  operator: PositiveOperator,
  values: readonly FilterValue[],
  ignoreCase: boolean,
): readonly Predicate[] {
  const { type, finer, unformatted } = column.field.valueType
  if (type === 'datetime') return compareInstants(column, operator, values)
  const plain = values.flatMap((value) => (value.kind === 'value' ? [value.value] : []))
  if ((type === 'date' || type === 'time') && (finer === true || unformatted === true)) {
    return compareTexts(column, operator, plain.map(String))
  }
  return plain.length === 0 ? [] : [comparePlain(column, operator, plain, ignoreCase)]
}

/** Each of true, false and null that is asked for; with `negated` each of the others. */
function compareBooleans(column: Column, negated: boolean, { hasNull, values }: Values): Predicate {
  const has = (asked: boolean): boolean => values.some((value) => value.kind === 'value' && value.value === asked)
  const parts = [true, false].filter((each) => has(each) !== negated).map((each) => compareBoolean(column, each))
  if (hasNull !== negated && (hasNull || column.nullable)) parts.push(isShownAsNull(column))
  return parts.length === 0 ? NEVER : some(parts)
}

/** Every number but 0 is shown as true. */
function compareBoolean(column: Column, value: boolean): Predicate {
  if (!value) return compare(column, 'eq', [false])
  return some([compareShown(column, 'gt', [false]), compare(column, 'lt', [false])])
}

function comparePlain(
  column: Column,
  operator: PositiveOperator,
  values: readonly PlainValue[],
  ignoreCase: boolean,
): Predicate {
  // Case is a matter of text only.
  const folds = ignoreCase && (column.field.valueType.type === 'string' || isArray(column.field))
  const held = values.filter((value) => canHold(column, value))
  const [first] = values
  if (held.length === values.length || first === undefined) return compareShown(column, operator, values, folds)
  if (operator === 'in' && held.length > 0) return compareShown(column, operator, held, folds)
  if (operator === 'in' || operator === 'eq') return NEVER
  const side = beyond(column, first)
  if (side === 0) return compareBetween(column, operator, String(first))
  const isMet = side > 0 === (operator === 'lt' || operator === 'lte')
  return isMet ? isShown(column) : NEVER
}

/** Databases differ in what they do with a number that the column cannot hold: some round it, some refuse it. */
function canHold(column: Column, value: PlainValue): boolean {
  return beyond(column, value) === 0 && String(value) === withinScale(column, value)
}

/** 1 for a number greater than any the column holds, -1 for one less than any, else 0. */
function beyond({ field }: Column, value: PlainValue): -1 | 0 | 1 {
  const { type, maxMagnitude = Number.MAX_VALUE } = field.valueType
  if (type === 'float') return Math.abs(Number(value)) > maxMagnitude ? (Number(value) > 0 ? 1 : -1) : 0
  if (type !== 'integer' && type !== 'bigint') return 0
  return beyondIntegers(field.valueType, BigInt(value as string | number))
}

/** A decimal without the places that its column does not keep; any other value as it is. */
function withinScale({ field }: Column, value: PlainValue): string {
  const { type, scale } = field.valueType
  const text = String(value)
  const point = text.indexOf('.')
  if (type !== 'decimal' || scale === undefined || point < 0) return text
  return scale === 0 ? text.slice(0, point) : text.slice(0, point + 1 + scale)
}

/**
 * A decimal with more places than its column keeps lies between two that the column can hold. The one towards zero is
 * compared in its stead.
 */
function compareBetween(column: Column, operator: PositiveOperator, decimal: string): Predicate {
  const isMore = operator === 'gt' || operator === 'gte'
  const [more, less] = decimal.startsWith('-') ? (['gte', 'lt'] as const) : (['gt', 'lte'] as const)
  return compareShown(column, isMore ? more : less, [withinScale(column, decimal)])
}

const OPPOSITE: Readonly<Partial<Record<PositiveOperator, PositiveOperator>>> = {
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt',
}

/** The exact complement of a predicate on one column: where the column is null, exactly one of the two is met. */
export function negate(predicate: Predicate): Predicate {
  return visit(COMPLEMENTS, predicate)
}

const COMPLEMENTS: Visits<Predicate, [], Predicate> = {
  compare: (node) => {
    const opposite = OPPOSITE[node.operator]
    if (opposite === undefined) return { ...node, negated: !node.negated }
    const turned: Predicate = { ...node, operator: opposite }
    if (!node.column.nullable) return turned
    return { kind: 'or', nodes: [turned, { kind: 'null', column: node.column, negated: false }] }
  },
  null: (node) => ({ ...node, negated: !node.negated }),
  absent: (node) => ({ ...node, negated: !node.negated }),
  count: (node) => ({ ...node, negated: !node.negated }),
  itemCount: (node) => ({ ...node, negated: !node.negated }),
  and: ({ nodes }) => ({ kind: 'or', nodes: nodes.map(negate) }),
  or: ({ nodes }) => ({ kind: 'and', nodes: nodes.map(negate) }),
  match: () => {
    throw new TypeError('a search has no operator to negate')
  },
  never: () => ALWAYS,
  always: () => NEVER,
  tuples: () => {
    throw new TypeError('keys are no condition of a filter')
  },
  owned: () => {
    throw new TypeError('what an owner has is no condition of a client')
  },
  apart: () => {
    throw new TypeError('a condition of the host has no operator to negate')
  },
  quantified: () => {
    throw new TypeError('quantifiers have no operator to negate')
  },
  items: () => {
    throw new TypeError('quantifiers have no operator to negate')
  },
  beyond: () => {
    throw new TypeError('a place in an order has no operator to negate')
  },
}
