/**
 * A rule on one column, parsed from a CHECK constraint: a length, bounds, or a list of values. Other expressions are
 * skipped, because the database enforces them.
 */

export interface Rule {
  readonly column: string
  readonly kind: 'minLength' | 'maxLength' | 'min' | 'max' | 'values'
  readonly bound: number
  readonly values: readonly string[]
}

export interface Token {
  /** `name`: a quoted identifier. `word`: a keyword, function or unquoted identifier in lower case. */
  readonly kind: 'name' | 'word' | 'number' | 'text' | 'sign'
  readonly text: string
  /** The token as it is written in the SQL. */
  readonly written: string
}

const tokenPattern = (text: string): RegExp =>
  new RegExp(
    String.raw`--[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"]|"")*)"|\x60((?:[^\x60]|\x60\x60)*)\x60|'(${text})'|(\d+(?:\.\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(::|<=|>=|<>|!=|[^\s])`,
    'gu',
  )

const STANDARD_TOKENS = tokenPattern("(?:[^']|'')*")
const ESCAPED_TOKENS = tokenPattern(String.raw`(?:[^'\\]|''|\\[\s\S])*`)

/**
 * Splits SQL into tokens, without comments. `hasEscapes`: backslashes in text literals are escapes, as in MySQL and
 * MariaDB.
 */
export function tokenize(sql: string, hasEscapes = false): readonly Token[] {
  return [...sql.matchAll(hasEscapes ? ESCAPED_TOKENS : STANDARD_TOKENS)].flatMap((found): Token[] => {
    const [, double, back, text, number, word, sign] = found
    const name = double?.replaceAll('""', '"') ?? back?.replaceAll('``', '`')
    if (name !== undefined) return [createToken('name', name)]
    if (text !== undefined) return [createToken('text', removeEscapes(text, hasEscapes))]
    if (number !== undefined) return [createToken('number', number)]
    if (word !== undefined) return [{ kind: 'word', text: word.toLowerCase(), written: word }]
    return sign === undefined ? [] : [createToken('sign', sign)]
  })
}

function createToken(kind: Token['kind'], text: string): Token {
  return { kind, text, written: text }
}

const ESCAPE_CHARACTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' }

function removeEscapes(text: string, hasEscapes: boolean): string {
  const single = text.replaceAll("''", "'")
  return hasEscapes ? single.replace(/\\([\s\S])/g, (_, letter: string) => ESCAPE_CHARACTERS[letter] ?? letter) : single
}

function isSign(token: Token | undefined, ...texts: readonly string[]): boolean {
  return token?.kind === 'sign' && texts.includes(token.text)
}

function isWord(token: Token | undefined, ...texts: readonly string[]): boolean {
  return token?.kind === 'word' && texts.includes(token.text)
}

/** Index of the parenthesis that closes the parenthesis at `open`. */
export function findClosing(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let index = open; index < tokens.length; index += 1) {
    if (isSign(tokens[index], '(')) depth += 1
    if (isSign(tokens[index], ')')) depth -= 1
    if (depth === 0) return index
  }
  return -1
}

/** Words that continue the name of an SQL type: `character varying`, `double precision`. */
const TYPE_WORDS = ['varying', 'precision', 'with', 'without', 'time', 'zone']

/** Removes casts (`name::text`, `'a'::character varying(20)[]`) and character sets (`_utf8mb4'a'`). */
function removeCasts(tokens: readonly Token[]): readonly Token[] {
  const remaining: Token[] = []
  for (let index = 0; index < tokens.length; index += 1) {
    const current = tokens[index]
    if (current === undefined) break
    if (current.kind === 'word' && current.text.startsWith('_utf8') && tokens[index + 1]?.kind === 'text') continue
    if (!isSign(current, '::')) {
      remaining.push(current)
      continue
    }
    index = findEndOfType(tokens, index + 1)
  }
  return remaining
}

/** Index of the last token of a type that starts at `first`. */
function findEndOfType(tokens: readonly Token[], first: number): number {
  let index = first
  while (isWord(tokens[index + 1], ...TYPE_WORDS)) index += 1
  const close = isSign(tokens[index + 1], '(') ? findClosing(tokens, index + 1) : -1
  if (close > 0) index = close
  while (isSign(tokens[index + 1], '[') && isSign(tokens[index + 2], ']')) index += 2
  return index
}

/** Removes redundant parentheses. Parentheses of functions and lists stay. */
function removeParentheses(given: readonly Token[]): readonly Token[] {
  for (let open = 0; open < given.length; open += 1) {
    if (!isSign(given[open], '(')) continue
    const close = findClosing(given, open)
    const isCalled = given[open - 1]?.kind === 'word' && !isWord(given[open - 1], 'and', 'between', 'check')
    const isOne = close === open + 2 && !isCalled
    const isTwice = isSign(given[open + 1], '(') && findClosing(given, open + 1) === close - 1
    const isWhole = open === 0 && close === given.length - 1
    if (isOne || isTwice || isWhole) {
      return removeParentheses([...given.slice(0, open), ...given.slice(open + 1, close), ...given.slice(close + 1)])
    }
  }
  return given
}

/** Splits a condition at each AND, except the AND of BETWEEN. */
function splitConjuncts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]]
  let depth = 0
  let isBetween = false
  for (const token of tokens) {
    if (isSign(token, '(', '[')) depth += 1
    if (isSign(token, ')', ']')) depth -= 1
    if (depth === 0 && isWord(token, 'between')) isBetween = true
    if (depth === 0 && isWord(token, 'and') && !isBetween) {
      parts.push([])
      continue
    }
    if (isWord(token, 'and')) isBetween = false
    parts.at(-1)?.push(token)
  }
  return parts
}

/** Keywords of conditions that the parser does not support. */
const UNSUPPORTED_WORDS = ['or', 'not', 'case', 'xor', 'null']

export function parseRules(check: string, hasEscapes: boolean): readonly Rule[] {
  return findRules(removeParentheses(removeCasts(tokenize(check, hasEscapes))))
}

function findRules(tokens: readonly Token[]): readonly Rule[] {
  if (tokens.some((token) => isWord(token, ...UNSUPPORTED_WORDS))) return []
  const parts = splitConjuncts(tokens)
  if (parts.length === 1) return parseRule(tokens)
  return parts.flatMap((part) => findRules(removeParentheses(part)))
}

/** SQL functions for the length of a text. True if the function counts characters, false if it counts bytes. */
const LENGTH_FUNCTIONS: ReadonlyMap<string, boolean> = new Map([
  ['char_length', true],
  ['character_length', true],
  ['length', true],
  ['octet_length', false],
])

interface ComparedColumn {
  readonly column: string
  /** Whether a compared length counts characters. null if the column itself is compared, not its length. */
  readonly countsCharacters: boolean | null
  readonly rest: readonly Token[]
}

function parseSubject(tokens: readonly Token[]): ComparedColumn | null {
  const [first, second, third, fourth] = tokens
  if (first === undefined) return null
  const counts = first.kind === 'word' ? LENGTH_FUNCTIONS.get(first.text) : undefined
  if (counts !== undefined && isSign(second, '(') && isColumn(third) && isSign(fourth, ')')) {
    return { column: third.written, countsCharacters: counts, rest: tokens.slice(4) }
  }
  return isColumn(first) ? { column: first.written, countsCharacters: null, rest: tokens.slice(1) } : null
}

function isColumn(token: Token | undefined): token is Token {
  return token?.kind === 'name' || token?.kind === 'word'
}

function parseRule(tokens: readonly Token[]): readonly Rule[] {
  const subject = parseSubject(tokens)
  if (subject === null) return []
  const { rest } = subject
  if (isWord(rest[0], 'between')) {
    const and = rest.findIndex((token) => isWord(token, 'and'))
    return [...boundRules(subject, '>=', rest.slice(1, and)), ...boundRules(subject, '<=', rest.slice(and + 1))]
  }
  if (subject.countsCharacters === null) {
    const values = parseList(rest)
    if (values !== null) return [{ column: subject.column, kind: 'values', bound: 0, values }]
  }
  const [sign, ...value] = rest
  return sign?.kind === 'sign' ? boundRules(subject, sign.text, value) : []
}

/** The texts of `IN ('a', 'b')` or `= ANY (ARRAY['a', 'b'])`. Returns null for other conditions. */
function parseList(tokens: readonly Token[]): readonly string[] | null {
  const isIn = isWord(tokens[0], 'in')
  const isAny = isSign(tokens[0], '=') && isWord(tokens[1], 'any')
  if (!isIn && !isAny) return null
  const list = tokens
    .slice(isIn ? 1 : 2)
    .filter((token) => !isSign(token, '(', ')', '[', ']', ',') && !isWord(token, 'array'))
  return list.length > 0 && list.every(({ kind }) => kind === 'text') ? list.map(({ text }) => text) : null
}

function boundRules(
  { column, countsCharacters }: ComparedColumn,
  sign: string,
  value: readonly Token[],
): readonly Rule[] {
  const bound = parseNumber(value)
  if (bound === null) return []
  const isLength = countsCharacters !== null
  if (sign === '>=')
    return countsCharacters === false ? [] : [createRule(column, isLength ? 'minLength' : 'min', bound)]
  if (sign === '<=') return [createRule(column, isLength ? 'maxLength' : 'max', bound)]
  // `> 1` equals `>= 2` only for integers, such as lengths.
  if (sign === '>' && countsCharacters === true) return [createRule(column, 'minLength', bound + 1)]
  return sign === '<' && isLength ? [createRule(column, 'maxLength', bound - 1)] : []
}

function createRule(column: string, kind: Rule['kind'], bound: number): Rule {
  return { column, kind, bound, values: [] }
}

function parseNumber(tokens: readonly Token[]): number | null {
  const text = tokens.map((token) => token.text).join('')
  const [first] = tokens
  const isNumber = first?.kind === 'number' || first?.kind === 'text' || isSign(first, '-')
  return isNumber && /^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : null
}
