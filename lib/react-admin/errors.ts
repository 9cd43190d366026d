import { ProblemError } from '../client/index.js'
import { fieldPath } from '../providers/messages.js'

/** Runs a call; a problem that it rejects with tells forms, by `body.errors`, what to say at which input. */
export async function withFormErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const fields = error instanceof ProblemError ? Object.entries(error.errors) : []
    if (fields.length === 0) throw error
    throw Object.assign(error as ProblemError, { body: { errors: formErrors(error as ProblemError) } })
  }
}

/** Messages by the names of inputs, and all of them together for fields that the form does not have. */
function formErrors({ title, errors }: ProblemError): Readonly<Record<string, unknown>> {
  const fields = Object.entries(errors)
  const all = fields.flatMap(([name, messages]) => messages.map((message) => `${name} ${message}`))
  return {
    ...Object.fromEntries(fields.map(([name, messages]) => [fieldPath(name), messages.join(' ')])),
    root: { serverError: [title, ...all].join('\n') },
  }
}
