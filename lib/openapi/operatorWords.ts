import { OPERATORS, type OperatorName } from '../language/operators.js'

/** Words for operators whose camel-case name is not the right words. */
const SPECIAL_WORDS: { readonly [name in OperatorName]?: string } = {
  eq: 'is',
  ne: 'is not',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  notContains: 'does not contain',
  notStartsWith: 'does not start with',
  notEndsWith: 'does not end with',
  in: 'is one of',
  notIn: 'is none of',
}

/** Words of each operator, by token. */
export const OPERATOR_WORDS: ReadonlyMap<string, string> = new Map(
  OPERATORS.map(({ name, token }) => [token, SPECIAL_WORDS[name] ?? toWords(name)]),
)

function toWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** Operators whose value is a list. */
export const LIST_OPERATORS: ReadonlySet<string> = new Set(
  OPERATORS.flatMap(({ token, list }) => (list ? [token] : [])),
)
