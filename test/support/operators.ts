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
