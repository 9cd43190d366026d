import { type Expectation, SyntaxError as GrammarError } from '../../grammar/query.js'
import { type QueryParameter, QuerySyntaxError } from '../common/errors.js'
import { findHint } from './hint.js'
import { EXPECTED_TOKENS } from './operatorTokens.js'

/** Runs the generated parser. The parser's error is converted, because its form depends on the parser generator. */
export function parseSyntax<Tree>(parameter: QueryParameter, text: string, read: (text: string) => Tree): Tree {
  if (typeof text !== 'string') throw new TypeError(`the ${parameter} to parse must be a string`)
  try {
    return read(text)
  } catch (error) {
    if (error instanceof GrammarError) throw toSyntaxError(parameter, text, error)
    throw error
  }
}

function toSyntaxError(parameter: QueryParameter, text: string, error: GrammarError): QuerySyntaxError {
  const offset = error.location.start.offset
  const code = text.codePointAt(offset)
  const expected = [...new Set(error.expected.flatMap(describeExpectation))]
  const hint = findHint(parameter, text, offset, expected)
  return new QuerySyntaxError({
    parameter,
    text,
    offset,
    expected: Object.freeze(expected),
    found: code === undefined ? null : String.fromCodePoint(code),
    ...(hint === undefined ? {} : { hint }),
  })
}

/**
 * Describes what the parser expected, for an error message. Named rules and literals are listed, and character classes
 * are omitted.
 */
function describeExpectation(expectation: Expectation): readonly string[] {
  switch (expectation.type) {
    case 'other':
      return EXPECTED_TOKENS.get(expectation.description) ?? [expectation.description]
    case 'literal':
      return [`"${expectation.text}"`]
    case 'end':
      return ['the end']
    default:
      return []
  }
}
