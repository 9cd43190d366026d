import type { Operator } from '../../types/query.js'

/** What is written in a filter, by the specification and not by the code. */
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
