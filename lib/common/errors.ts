/** The stable codes of wrong options. */
export type ConfigErrorCode =
  | 'NOT_A_MODEL'
  | 'UNKNOWN_DIALECT'
  | 'UNSAFE_CONNECTION'
  | 'UNKNOWN_OPTION'
  | 'INVALID_OPTION'
  | 'UNKNOWN_ATTRIBUTE'
  | 'INVALID_ATTRIBUTE'
  | 'UNKNOWN_ASSOCIATION'
  | 'UNKNOWN_OPERATION'
  | 'UNKNOWN_POLICY'
  | 'UNKNOWN_MODEL'
  /** No policy covers an operation, and policies are required. */
  | 'UNGUARDED'
  | 'AMBIGUOUS_NAME'
  | 'RULE_TYPE'
  /** Rules and column leave no value. */
  | 'RULE_BOUNDS'
  | 'HUB_PATH_TAKEN'
  /** The model has a `toJSON` of its own, which nothing here calls. */
  | 'MODEL_TO_JSON'
  /** The key is no attribute, or not one that tells records apart. */
  | 'SDTO011'

/** One wrong option: a stable code, and a message that names the model and the option. */
export interface ConfigProblem {
  readonly code: ConfigErrorCode
  readonly message: string
}

/**
 * Wrong options, found while mounting. `code` is stable; the message names the model, the option and, for a
 * misspelling, what was probably meant. Where several things are wrong, code and message are those of the first, with
 * the others' messages in further lines, and `problems` has each.
 */
export class CrudConfigError extends TypeError {
  readonly code: ConfigErrorCode
  readonly problems: readonly ConfigProblem[]

  constructor(code: ConfigErrorCode, message: string, problems?: readonly ConfigProblem[]) {
    super(problems === undefined ? `${message} (${code})` : message)
    this.name = 'CrudConfigError'
    this.code = code
    this.problems = problems ?? [{ code, message: this.message }]
  }

  /** One error for several. */
  static of(errors: readonly [CrudConfigError, ...CrudConfigError[]]): CrudConfigError {
    const message = errors.map((error) => error.message).join('\n')
    return new CrudConfigError(
      errors[0].code,
      message,
      errors.flatMap(({ problems }) => problems),
    )
  }
}

/** The parameter that a syntax error is about. */
export type QueryParameter = 'filter' | 'sort' | 'select' | 'aggregate' | 'group' | 'having'

/**
 * A filter, sort or select that does not parse. `offset` is the 0-based UTF-16 offset of the first character that
 * cannot be, `expected` what could have stood there, `found` what does (null at the end of the text), `picture` the
 * text with a caret under that character.
 */
export class QuerySyntaxError extends SyntaxError {
  readonly code = 'QUERY_SYNTAX'
  readonly parameter: QueryParameter
  readonly offset: number
  readonly expected: readonly string[]
  readonly found: string | null
  readonly picture: string

  constructor(fault: {
    parameter: QueryParameter
    text: string
    offset: number
    expected: readonly string[]
    found: string | null
    hint?: string
  }) {
    const found = fault.found === null ? 'the end' : `"${fault.found}"`
    const hint = fault.hint === undefined ? '' : ` ${fault.hint}`
    super(`Expected ${oneOf(fault.expected)} at position ${fault.offset}, but found ${found}.${hint}`)
    this.name = 'QuerySyntaxError'
    this.parameter = fault.parameter
    this.offset = fault.offset
    this.expected = fault.expected
    this.found = fault.found
    this.picture = picture(fault.text, fault.offset)
  }
}

const LIMITS = {
  filterLength: ['is longer than the limit of', 'characters '],
  nesting: ['is nested deeper than the limit of', ''],
  clauses: ['has more clauses than the limit of', ''],
  listItems: ['has a list with more values than the limit of', ''],
  sortKeys: ['has more sort keys than the limit of', ''],
  selectFields: ['has more fields than the limit of', ''],
  measures: ['has more measures than the limit of', ''],
  groups: ['has more keys than the limit of', ''],
} as const

/** The limits that a parameter of the query language can break, by the names they have in the options. */
export type QueryLimit = keyof typeof LIMITS

/** A parameter of the query language that is well formed but larger than the host allows. */
export class QueryLimitError extends Error {
  readonly code = 'QUERY_LIMIT'
  readonly parameter: QueryParameter
  readonly limit: QueryLimit
  readonly maximum: number

  constructor(excess: { parameter: QueryParameter; limit: QueryLimit; maximum: number }) {
    const [what, unit] = LIMITS[excess.limit]
    super(`${what} ${excess.maximum} ${unit}(${excess.limit}).`)
    this.name = 'QueryLimitError'
    this.parameter = excess.parameter
    this.limit = excess.limit
    this.maximum = excess.maximum
  }
}

function oneOf(words: readonly string[]): string {
  const last = words.at(-1) ?? 'nothing'
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`
}

const PICTURE_WIDTH = 60

/**
 * The text around an offset with a caret below: two lines, at most 60 characters wide, cut ends marked with an
 * ellipsis. Line breaks and control characters show as blanks, so that the caret stays in its column.
 */
export function picture(text: string, offset: number): string {
  const start = Math.max(0, Math.min(offset - PICTURE_WIDTH / 2, text.length - PICTURE_WIDTH))
  const end = Math.min(text.length, start + PICTURE_WIDTH)
  const shown = text.slice(start, end).replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
  const left = start > 0 ? '…' : ''
  const right = end < text.length ? '…' : ''
  return `${left}${shown}${right}\n${' '.repeat(left.length + offset - start)}^`
}
