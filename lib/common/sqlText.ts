/** The number of characters of a statement that are read. The rest of a longer statement consists mostly of values. */
const LENGTH = 10_000

const SHARED = [
  String.raw`--[^\n]*|/\*[\s\S]*?\*/`,
  String.raw`(?<kept>::|[$?]\d+|[:$][A-Za-z_]\w*(?![\w$]))`,
  String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
  String.raw`(?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)`,
  String.raw`(?<open>['"\x60]|\$(?=[A-Za-z_$])|/\*)`,
  String.raw`(?<other>[\s\S])`,
]

const QUOTED = "(?:'(?:[^']|'')*'(?!'))"
const ESCAPED = String.raw`(?:'(?:[^'\\]|\\[\s\S]|'')*'(?!')|"(?:[^"\\]|\\[\s\S]|"")*"(?!"))`
const TICKED = String.raw`(?<name>\x60(?:[^\x60]|\x60\x60)*\x60)`

/** The tokens of SQL by dialect. The first matching alternative applies. */
const TOKENS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    postgres: [
      String.raw`(?:[eE]'(?:[^'\\]|\\[\s\S]|'')*'(?!'))`,
      // Matches an unterminated string. Otherwise the text would be read as a word and another string.
      "(?<broken>[eE]')",
      String.raw`(?:\$(?<tag>[A-Za-z_\u0080-\uffff]\w*|)\$[\s\S]*?\$\k<tag>\$)`,
      QUOTED,
      '(?<name>"(?:[^"]|"")*")',
    ],
    mysql: [String.raw`#[^\n]*`, ESCAPED, TICKED],
    mariadb: [String.raw`#[^\n]*`, ESCAPED, TICKED],
    // In SQLite a double-quoted text is a string if it names no column, so it is treated as a literal.
    sqlite: [QUOTED, '(?:"(?:[^"]|"")*")', TICKED],
  }).map(([dialect, own]) => [dialect, new RegExp([...own, ...SHARED].join('|'), 'y')]),
)

/**
 * Returns a statement without comments, with `?` for every literal. The text is cut at the first token that cannot be
 * read, because the rest may contain values.
 */
export function redactSql(sql: string, dialect: string): string {
  const pattern = TOKENS.get(dialect)
  if (pattern === undefined) return commandOf(sql)
  const read = sql.length > LENGTH ? sql.slice(0, LENGTH) : sql
  let text = ''
  let before = ''
  pattern.lastIndex = 0
  for (let found = pattern.exec(read); found !== null; found = pattern.exec(read)) {
    const { word, other, open, broken } = found.groups ?? {}
    if (open !== undefined || broken !== undefined) return `${text}...`
    text += redactToken(found, before)
    if (word !== undefined || other === undefined || /\S/.test(other)) before = word ?? ''
  }
  return read === sql ? text : `${text}...`
}

/** Returns the replacement of a token. `before` is the preceding word, if there is one. */
function redactToken({ 0: whole, groups = {} }: RegExpExecArray, before: string): string {
  const { name, kept, word, other } = groups
  if (word !== undefined) return isLiteral(word, before) ? '?' : word
  return name ?? kept ?? other ?? (/^(?:--|\/\*|#)/.test(whole) ? ' ' : '?')
}

/** Whether a word is a literal. `NULL` is not a literal in `IS NULL` and `NOT NULL`. */
function isLiteral(word: string, before: string): boolean {
  if (/^(?:true|false)$/i.test(word)) return true
  return /^null$/i.test(word) && !/^(?:is|not)$/i.test(before)
}

/** Returns the first word of a statement, in capitals. */
export function commandOf(sql: string): string {
  return (COMMAND.exec(sql.slice(0, 200))?.[1] ?? '').toUpperCase()
}

/** Finds the first word after blanks, brackets and comments. */
const COMMAND = /^(?:[\s(]|--[^\n]*\n|\/\*[\s\S]*?\*\/)*([A-Za-z]+)/
