import type { QueryParameter } from '../common/errors.js'
import { OPERATORS } from './operators.js'

/** Syntax of other query languages, with the equivalent syntax of this language. */
const FOREIGN_SYNTAX: ReadonlyMap<string, string> = new Map([
  ['==', '='],
  ['!==', '!='],
  ['=>', '>='],
  ['=<', '<='],
  ['<>', '!='],
])

/** Operator words of other query languages, with the equivalent operators. */
const FOREIGN_OPERATORS: ReadonlyMap<string, string> = new Map([
  ['eq', '='],
  ['is', '=null` or `!=null'],
  ['ne', '!='],
  ['gt', '>'],
  ['ge', '>='],
  ['gte', '>='],
  ['lt', '<'],
  ['le', '<='],
  ['lte', '<='],
  ['like', '=*'],
  ['ilike', '=*'],
  ['contains', '=*'],
  ['startswith', '^'],
  ['endswith', '$'],
  ['in', '=in='],
])

/** Words that join conditions in other query languages, with the equivalent separators. */
const FOREIGN_CONJUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['&', ','],
  ['&&', ','],
  ['and', ','],
  ['or', '|'],
])

/** The operators that contain a word, such as `=in=`. */
const WORD_OPERATORS = OPERATORS.map(({ token }) => token).filter((token) => /\w/.test(token))

const LIST_TOKENS = OPERATORS.flatMap(({ token, list }) => (list ? [token] : [])).join('|')

/** Returns a pattern for the end of a text: an operator with a list of values, followed by `rest`. */
function listPattern(rest: string): RegExp {
  return new RegExp(`(?:${LIST_TOKENS})${rest}[ \\t\\r\\n]*$`, 'iu')
}

const LIST_TOKEN_AT_END = listPattern('')
const LIST_AND_COMMA = listPattern('[^,|()]*,')
const LIST_AND_NAME = listPattern('[^,|()]*,[ \\t\\r\\n]*[\\p{L}_][\\p{L}\\p{N}_.]*')

/** The position at which the parser stopped, with its surroundings. */
interface ParserStop {
  readonly parameter: 'filter' | 'having'
  readonly text: string
  readonly offset: number
  /** The last characters before the error. A long filter is not searched from its start. */
  readonly before: string
  readonly rest: string
  readonly expected: readonly string[]
}

type Hint = (halt: ParserStop) => string | undefined

/** Returns a hint if a syntax error looks like a common mistake, otherwise undefined. */
export function findHint(
  parameter: QueryParameter,
  text: string,
  offset: number,
  expected: readonly string[],
): string | undefined {
  const rest = text.slice(offset)
  if (parameter === 'sort') return sortHint(rest)
  if (parameter === 'group') {
    return rest[0] === '(' ? 'Dates are grouped by year(), month(), day() and hour().' : undefined
  }
  if (parameter !== 'filter' && parameter !== 'having') return undefined
  const before = text.slice(Math.max(0, offset - 200), offset)
  const halt: ParserStop = { parameter, text, offset, before, rest, expected }
  return clauseHint(halt) ?? (HINTS.get(rest[0] ?? '') ?? otherHint)(halt)
}

function sortHint(rest: string): string | undefined {
  if (rest[0] === ':') return 'A direction is `-Field` or `Field desc`.'
  return /^(?:asc|desc)/i.test(rest) ? 'Write the direction once: `-Field` or `Field desc`.' : undefined
}

function isValueExpected({ expected }: ParserStop): boolean {
  return expected.includes('a value')
}

function isOperatorExpected({ expected }: ParserStop): boolean {
  return expected.includes('an operator')
}

function clauseHint(halt: ParserStop): string | undefined {
  if (!isOperatorExpected(halt)) return undefined
  if (/(?:^|[,|(])[ \t\r\n]*not[ \t\r\n]*$/i.test(halt.before)) return negationHint(halt.parameter)
  return isListValue(halt.before, halt.rest) ? LIST_HINT : undefined
}

const suggestRelation: Hint = (halt) =>
  isValueExpected(halt) ? relationHint(halt.text, halt.offset, halt.rest.charAt(0)) : undefined

/** Hints by the character at which the parser stopped. */
const HINTS: ReadonlyMap<string, Hint> = new Map<string, Hint>([
  ['=', suggestRelation],
  ['<', suggestRelation],
  ['>', suggestRelation],
  ['(', openingHint],
  [
    ')',
    ({ expected }) =>
      expected.includes('the end') ? 'No group is open: write `\\)` for a parenthesis in a value.' : undefined,
  ],
  [
    '!',
    ({ rest, parameter }) => {
      if (/^![ \t\r\n]*\(/.test(rest)) return 'A group cannot be negated: negate its operators.'
      return /^![ \t\r\n]*[\p{L}_]/u.test(rest) ? negationHint(parameter) : undefined
    },
  ],
  ['|', ({ before }) => (before.endsWith('|') ? '`||` is not an operator: write `|`.' : undefined)],
  [':', (halt) => (isOperatorExpected(halt) ? '`:` is not an operator: write `=`.' : undefined)],
  ['~', (halt) => (isOperatorExpected(halt) ? '`~` is not an operator: write `=*`.' : undefined)],
])

function openingHint(halt: ParserStop): string {
  if (isValueExpected(halt) && LIST_TOKEN_AT_END.test(halt.before)) {
    return 'A list has no parentheses: `=in=1;2`. Write `\\(` for a parenthesis in a value.'
  }
  return isOperatorExpected(halt) && halt.parameter === 'filter'
    ? 'A group after a name needs Any, All, None or Count of a collection.'
    : 'Write `\\(` for a parenthesis in a value.'
}

function otherHint(halt: ParserStop): string | undefined {
  const { parameter, text, offset, before, rest, expected } = halt
  if (isOperatorExpected(halt)) return /^not(?!\w)/i.test(rest) ? negationHint(parameter) : wordHint(rest)
  if (expected.includes('","')) return joiningHint(rest)
  if (expected.includes('a field name') && LIST_AND_COMMA.test(before)) return LIST_HINT
  return isValueExpected(halt) && text.slice(0, offset).trimEnd().endsWith('/i')
    ? 'At the end of a clause `/i` ignores case: write `\\/i` for the text.'
    : undefined
}

const LIST_HINT = 'Separate the values of a list by `;`: `=in=1;2`.'

/** Whether a field name may be meant as another value of a list, because no operator follows it. */
function isListValue(before: string, rest: string): boolean {
  return (
    (/^[,|;)]?$/.test(rest.slice(0, 1)) || (/\s$/.test(before) && wordHint(rest) === undefined)) &&
    LIST_AND_NAME.test(before)
  )
}

function negationHint(parameter: ParserStop['parameter']): string {
  return parameter === 'filter'
    ? 'There is no `not`: negate the operator (`!=`, `!*`, `!^`, `!$`, `=out=`), or use `None(...)` of a collection.'
    : 'There is no `not`: negate the operator (`!=`, `=out=`).'
}

function joiningHint(rest: string): string | undefined {
  const written = /^(?:&&?|[a-z]+)/i.exec(rest)?.[0] ?? ''
  const replacement = FOREIGN_CONJUNCTIONS.get(written.toLowerCase())
  return replacement === undefined ? undefined : `\`${written}\` is not an operator: write \`${replacement}\`.`
}

function wordHint(rest: string): string | undefined {
  const word = /^[a-z]{2,10}(?![a-z])/i.exec(rest)?.[0] ?? ''
  const replacement = FOREIGN_OPERATORS.get(word.toLowerCase())
  return replacement === undefined ? undefined : `Operators are signs: write \`${replacement}\` for \`${word}\`.`
}

function relationHint(text: string, offset: number, found: string): string {
  const before = text.slice(0, offset).toLowerCase()
  const isBehindWord = WORD_OPERATORS.some((token) => before.endsWith(token))
  const written = isBehindWord ? '' : `${/[=<>!]*$/.exec(before.slice(-5))?.[0]}${found}`
  const replacement = FOREIGN_SYNTAX.get(written)
  const escaped = `\`\\${found}\` where a value begins with "${found}"`
  return replacement === undefined
    ? `Write ${escaped}.`
    : `\`${written}\` is not an operator: write \`${replacement}\`, or ${escaped}.`
}
