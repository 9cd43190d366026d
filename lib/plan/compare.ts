import type { FilterValue } from '../../types/field.js'
import type { Column, PlainValue, PositiveOperator, Predicate } from '../../types/plan.js'
import type { Operator } from '../../types/query.js'
import { beyondIntegers } from '../common/bounds.js'
import { isArray } from '../common/members.js'
import { type Visits, visit } from '../common/visit.js'
import { operatorInfo } from '../language/operators.js'
import { compareInstants, compareTexts } from './moments.js'
import { compare, compareShown, isShown, isShownAsNull, some } from './shown.js'

/** Operands of one comparison, parsed for the field's type. */
export interface Values {
  readonly hasNull: boolean
  readonly values: readonly FilterValue[]
}

/** Compares a field with values. Negated operators are the exact complement of positive operators, including nulls. */
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

/** Compares a boolean column with the requested values among true, false and null. `negated` selects the remaining values. */
function compareBooleans(column: Column, negated: boolean, { hasNull, values }: Values): Predicate {
  const has = (asked: boolean): boolean => values.some((value) => value.kind === 'value' && value.value === asked)
  const parts = [true, false].filter((each) => has(each) !== negated).map((each) => compareBoolean(column, each))
  if (hasNull !== negated && (hasNull || column.nullable)) parts.push(isShownAsNull(column))
  return parts.length === 0 ? NEVER : some(parts)
}

/** Compares a boolean column with a value. Numbers except 0 are true. */
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
  // Only text ignores case.
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

/** Whether the column can hold a number. Databases round other numbers or reject them. */
function canHold(column: Column, value: PlainValue): boolean {
  return beyond(column, value) === 0 && String(value) === withinScale(column, value)
}

/** 1 for a number above the column's range, -1 for a number below, else 0. */
function beyond({ field }: Column, value: PlainValue): -1 | 0 | 1 {
  const { type, maxMagnitude = Number.MAX_VALUE } = field.valueType
  if (type === 'float') return Math.abs(Number(value)) > maxMagnitude ? (Number(value) > 0 ? 1 : -1) : 0
  if (type !== 'integer' && type !== 'bigint') return 0
  return beyondIntegers(field.valueType, BigInt(value as string | number))
}

/** A decimal without the places beyond the column's scale. Other values are unchanged. */
function withinScale({ field }: Column, value: PlainValue): string {
  const { type, scale } = field.valueType
  const text = String(value)
  const point = text.indexOf('.')
  if (type !== 'decimal' || scale === undefined || point < 0) return text
  return scale === 0 ? text.slice(0, point) : text.slice(0, point + 1 + scale)
}

/** Compares with a decimal that has more places than the column's scale. The comparison uses the nearest storable decimal towards zero. */
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

/** Exact complement of a predicate on one column. A null value meets exactly one of the two. */
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
