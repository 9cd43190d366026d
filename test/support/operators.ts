import { OPERATORS } from '../../lib/language/operators.js'
import type { Operator } from '../../types/query.js'

/** Operator tokens in filters. The tokens are copied from the specification, not imported from the code. */
export const TOKENS: Readonly<Record<Operator, string>> = {
  eq: '=',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  contains: '=*',
  notContains: '!*',
  startsWith: '^',
  notStartsWith: '!^',
  endsWith: '$',
  notEndsWith: '!$',
  in: '=in=',
  notIn: '=out=',
}

type OperatorGroup = 'equality' | 'order' | 'part'

/** The group of each operator: operators of all types, operators of ordered types, and operators of text. */
const GROUPS: Readonly<Record<Operator, OperatorGroup>> = {
  eq: 'equality',
  ne: 'equality',
  in: 'equality',
  notIn: 'equality',
  gt: 'order',
  gte: 'order',
  lt: 'order',
  lte: 'order',
  contains: 'part',
  startsWith: 'part',
  endsWith: 'part',
  notContains: 'part',
  notStartsWith: 'part',
  notEndsWith: 'part',
}

function operatorsIn(group: OperatorGroup): readonly Operator[] {
  return OPERATORS.map(({ name }) => name).filter((name) => GROUPS[name] === group)
}

export const EQUALITY: readonly Operator[] = operatorsIn('equality')
export const ORDER: readonly Operator[] = operatorsIn('order')
export const PARTS: readonly Operator[] = operatorsIn('part')

/** The complement of each operator. */
export const COMPLEMENTS: Readonly<Record<Operator, Operator>> = {
  eq: 'ne',
  ne: 'eq',
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt',
  contains: 'notContains',
  notContains: 'contains',
  startsWith: 'notStartsWith',
  notStartsWith: 'startsWith',
  endsWith: 'notEndsWith',
  notEndsWith: 'endsWith',
  in: 'notIn',
  notIn: 'in',
}
