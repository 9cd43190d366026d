import { ProblemError } from '../client/index.js'
import { fieldPath } from '../providers/messages.js'

/** Runs a call. A rejected problem becomes an `HttpError` of Refine as well, with `errors` for forms. */
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
