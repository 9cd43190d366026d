import { ProblemError } from '../client/index.js'
import { fieldPath } from '../providers/messages.js'

/** Runs a call. A rejected problem gets `body.errors` with messages per input, which react-admin's forms show. */
export async function withFormErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const fields = error instanceof ProblemError ? Object.entries(error.errors) : []
    if (fields.length === 0) throw error
    throw Object.assign(error as ProblemError, { body: { errors: formErrors(error as ProblemError) } })
  }
}

/** Messages by input name. `root` has all messages together, for fields that the form lacks. */
function formErrors({ title, errors }: ProblemError): Readonly<Record<string, unknown>> {
  const fields = Object.entries(errors)
  const all = fields.flatMap(([name, messages]) => messages.map((message) => `${name} ${message}`))
  return {
    ...Object.fromEntries(fields.map(([name, messages]) => [fieldPath(name), messages.join(' ')])),
    root: { serverError: [title, ...all].join('\n') },
  }
}
