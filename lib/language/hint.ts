import type { QueryParameter } from '../common/errors.js'
import { OPERATORS } from './operators.js'

/** What other languages write, and what stands for it here. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['==', '='],
  ['!==', '!='],
  ['=>', '>='],
  ['=<', '<='],
  ['<>', '!='],
])

/** The operators that are words between signs. */
const WORDS = OPERATORS.map(({ token }) => token).filter((token) => /\w/.test(token))

/** The sentence that helps out of a common mistake, if the fault looks like one. */
export function hintFor(
  parameter: QueryParameter,
  text: string,
  offset: number,
  expected: readonly string[],
): string | undefined {
  const rest = text.slice(offset)
  if (parameter === 'sort') {
    return /^(?:asc|desc)/i.test(rest) ? 'A direction stands once: `-Field` or `Field desc`.' : undefined
  }
  if (parameter !== 'filter') return undefined

  const valueDue = expected.includes('a value')
  const found = rest[0]
  switch (found) {
    case '=':
    case '<':
    case '>':
      return valueDue ? relationHint(text, offset, found) : undefined
    case '(':
      return expected.includes('an operator')
        ? 'Only Any, All, None and Count behind a collection open a group.'
        : 'Write `\\(` for a parenthesis in a value.'
    case ')':
      return expected.includes('the end') ? 'No group is open: write `\\)` for a parenthesis in a value.' : undefined
    case '!':
      return /^![ \t\r\n]*\(/.test(rest) ? 'A group cannot be negated: negate its operators.' : undefined
    default:
      return valueDue && text.slice(0, offset).trimEnd().endsWith('/i')
        ? 'At the end of a clause `/i` ignores case: write `\\/i` for the text.'
        : undefined
  }
}

function relationHint(text: string, offset: number, found: string): string {
  const before = text.slice(0, offset).toLowerCase()
  const isBehindWord = WORDS.some((token) => before.endsWith(token))
  const written = isBehindWord ? '' : `${/[=<>!]*$/.exec(before.slice(-5))?.[0]}${found}`
  const meant = FOREIGN.get(written)
  const escaped = `\`\\${found}\` where a value begins with "${found}"`
  return meant === undefined ? `Write ${escaped}.` : `\`${written}\` is no operator: write \`${meant}\`, or ${escaped}.`
}
