/** The codes of configuration errors. Codes never change. */
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
  /** Policies are required, but an operation has no policy. */
  | 'UNGUARDED'
  | 'AMBIGUOUS_NAME'
  | 'RULE_TYPE'
  /** No value satisfies both the rules and the column. */
  | 'RULE_BOUNDS'
  | 'HUB_PATH_TAKEN'
  /** The model overrides `toJSON`, which this package never calls. */
  | 'MODEL_TO_JSON'
  /** The key is not an attribute, or is not unique. */
  | 'SDTO011'

/** A configuration error: its code, and a message that names the model and the option. */
export interface ConfigProblem {
  readonly code: ConfigErrorCode
  readonly message: string
}

/**
 * The error for wrong options, thrown at mount. `code` is stable. The message names the model, the option and, for a
 * misspelling, the probable name. With several errors, `code` and the first line of `message` belong to the first
 * error. The messages of the other errors follow in further lines. `problems` has all errors.
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
}

/**
 * Combines several errors into one. It is not a member of the class: the bundler shortens the name of a class that
 * refers to itself, and Node prints this name.
 */
export function combineConfigErrors(errors: readonly [CrudConfigError, ...CrudConfigError[]]): CrudConfigError {
  const message = errors.map((error) => error.message).join('\n')
  const problems = errors.flatMap((error) => error.problems)
  return new CrudConfigError(errors[0].code, message, problems)
}

/** The query parameters that may have a syntax error. */
export type QueryParameter = 'filter' | 'sort' | 'select' | 'aggregate' | 'group' | 'having'

/**
 * A syntax error in `filter`, `sort`, `select` or another expression. `offset` is the 0-based UTF-16 offset of the
 * first wrong character. `expected` lists the possible tokens, `found` is the actual token (null at the end). `picture`
 * is the text with a caret below the wrong character.
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

/** The names of the limits of query expressions, as in the option `limits`. */
export type QueryLimit = keyof typeof LIMITS

/** A valid query expression that exceeds a limit of the host. */
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
 * Shows at most 60 characters of the text around an offset, and a caret below the offset in a second line. An ellipsis
 * marks cut ends. Line breaks and control characters become blanks, so that the caret stays in its column.
 */
function picture(text: string, offset: number): string {
  const start = Math.max(0, Math.min(offset - PICTURE_WIDTH / 2, text.length - PICTURE_WIDTH))
  const end = Math.min(text.length, start + PICTURE_WIDTH)
  const shown = text.slice(start, end).replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
  const left = start > 0 ? '…' : ''
  const right = end < text.length ? '…' : ''
  return `${left}${shown}${right}\n${' '.repeat(left.length + offset - start)}^`
}
