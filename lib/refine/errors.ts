import { ProblemError } from '../client/index.js'
import { fieldPath } from '../providers/messages.js'

/** Runs a call; a problem that it rejects with is an `HttpError` of Refine's as well, whose `errors` forms show. */
export async function withHttpErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const fields = Object.entries(error.errors)
    throw Object.assign(error, {
      statusCode: error.status,
      errors: Object.fromEntries(fields.map(([place, messages]) => [fieldPath(place), messages])),
    })
  }
}
