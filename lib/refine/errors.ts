import { ProblemError } from '../client/index.js'
import { explain, fieldPath, type Messages } from '../providers/messages.js'

type Wrap = <T>(call: () => Promise<T>) => Promise<T>

/**
 * Returns a function that runs a call. A rejected problem becomes an `HttpError` of Refine with `errors`, which
 * Refine's forms show.
 */
export function httpErrorsBy(messages?: Messages): Wrap {
  return async (call) => {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      explain(error, messages)
      const fields = Object.entries(error.errors)
      throw Object.assign(error, {
        statusCode: error.status,
        errors: Object.fromEntries(fields.map(([place, messages]) => [fieldPath(place), messages])),
      })
    }
  }
}
