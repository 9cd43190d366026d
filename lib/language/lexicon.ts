// What the grammar and its faults read in the table of operators.

import { OPERATORS, type OperatorInfo } from './operators.js'

// Longer tokens first: `=*` is not `=` with the value `*`.
const ALL = [...OPERATORS].sort((one, other) => other.token.length - one.token.length)
const OF_NUMBERS = ALL.filter(({ text }) => !text)

/** The operator whose token begins at a place of a text, in any case; `counts` wants one that numbers have. */
export function operatorAt(text: string, place: number, counts: boolean): OperatorInfo | null {
  const operators = counts ? OF_NUMBERS : ALL
  return operators.find(({ token }) => standsAt(text, place, token)) ?? null
}

function standsAt(text: string, place: number, token: string): boolean {
  // Most tokens are signs, which have no case.
  return text.startsWith(token, place) || text.slice(place, place + token.length).toLowerCase() === token
}

const NEGATED = OPERATORS.filter(({ token }) => token.startsWith('!'))

/** What may stand where the grammar expects one of its named rules that are lists of tokens. */
export const LISTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['an operator behind !', NEGATED.map(restOf)],
  ['an operator of numbers behind !', NEGATED.filter(({ text }) => !text).map(restOf)],
])

function restOf({ token }: OperatorInfo): string {
  return `"${token.slice(1)}"`
}

/** What would make another operator of one that it stands behind: `*` behind `=`. */
export const CONTINUATIONS: readonly string[] = [
  ...new Set(
    OPERATORS.flatMap(({ token }) =>
      OPERATORS.filter((other) => other.token !== token && other.token.startsWith(token)).map((other) =>
        other.token.slice(token.length),
      ),
    ),
  ),
]
