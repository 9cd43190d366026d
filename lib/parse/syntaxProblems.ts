import { QueryLimitError, type QueryParameter, QuerySyntaxError } from '../common/errors.js'
import { invalidQuery, problem } from '../common/problem.js'

/** Converts syntax errors to problems, with the position, the expected tokens and a picture. */
export function parseWithProblems<T>(language: QueryParameter, parse: () => T, parameter: string = language): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof QueryLimitError) throw invalidQuery(parameter, error.message)
    if (!(error instanceof QuerySyntaxError)) throw error
    throw problem(`malformed-${language}`, {
      errors: { [parameter]: [error.message] },
      detail: `${error.message}\n${error.picture}`,
    })
  }
}
