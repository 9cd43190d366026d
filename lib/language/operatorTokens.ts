// Lookups in the table of operators, for the grammar and error messages.

import { OPERATORS, type OperatorInfo } from './operators.js'

// Longer tokens come first, because `=*` must not be parsed as `=` with the value `*`.
const LONGEST_FIRST = [...OPERATORS].sort((one, other) => other.token.length - one.token.length)
const NUMBER_OPERATORS = LONGEST_FIRST.filter(({ text }) => !text)

/**
 * Finds the operator whose token starts at a position. Case is ignored. `counts` restricts the search to operators of
 * counts.
 */
export function findOperatorAt(text: string, place: number, counts: boolean): OperatorInfo | null {
  const operators = counts ? NUMBER_OPERATORS : LONGEST_FIRST
  return operators.find(({ token }) => isTokenAt(text, place, token)) ?? null
}

function isTokenAt(text: string, place: number, token: string): boolean {
  // `startsWith` comes first, because most tokens have no letters.
  return text.startsWith(token, place) || text.slice(place, place + token.length).toLowerCase() === token
}

const NEGATED_OPERATORS = OPERATORS.filter(({ token }) => token.startsWith('!'))

/** Tokens that each named rule of the grammar expects. */
export const EXPECTED_TOKENS: ReadonlyMap<string, readonly string[]> = new Map([
  ['an operator after !', NEGATED_OPERATORS.map(tokenSuffix)],
  ['an operator of numbers after !', NEGATED_OPERATORS.filter(({ text }) => !text).map(tokenSuffix)],
])

function tokenSuffix({ token }: OperatorInfo): string {
  return `"${token.slice(1)}"`
}
