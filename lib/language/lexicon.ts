// Lookups in the table of operators, for the grammar and error messages.

import { OPERATORS, type OperatorInfo } from './operators.js'

// Longer tokens first: `=*` is not `=` with the value `*`.
const ALL = [...OPERATORS].sort((one, other) => other.token.length - one.token.length)
const OF_NUMBERS = ALL.filter(({ text }) => !text)

/** The operator whose token starts at a position, case-insensitive. `counts` restricts it to operators of counts. */
export function operatorAt(text: string, place: number, counts: boolean): OperatorInfo | null {
  const operators = counts ? OF_NUMBERS : ALL
  return operators.find(({ token }) => standsAt(text, place, token)) ?? null
}

function standsAt(text: string, place: number, token: string): boolean {
  // Most tokens have no letters.
  return text.startsWith(token, place) || text.slice(place, place + token.length).toLowerCase() === token
}

const NEGATED = OPERATORS.filter(({ token }) => token.startsWith('!'))

/** The tokens that each named rule of the grammar expects. */
export const LISTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['an operator behind !', NEGATED.map(restOf)],
  ['an operator of numbers behind !', NEGATED.filter(({ text }) => !text).map(restOf)],
])

function restOf({ token }: OperatorInfo): string {
  return `"${token.slice(1)}"`
}
