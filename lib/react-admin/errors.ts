import { ProblemError } from '../client/index.js'
import { explain, fieldPath, type Messages } from '../providers/messages.js'

/** Runs a call. A rejected problem gets `body.errors`, from which react-admin's forms show messages per input. */
export async function withFormErrors<T>(messages: Messages | undefined, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const title = explain(error, messages)
    const fields = Object.entries(error.errors)
    throw fields.length === 0 ? error : Object.assign(error, { body: { errors: formErrors(title, fields) } })
  }
}

/** Builds messages by input name. `root` has all messages, because the form may lack some inputs. */
function formErrors(title: string, fields: readonly (readonly [string, readonly string[]])[]): object {
  const all = fields.flatMap(([name, messages]) => messages.map((message) => `${name} ${message}`))
  return {
    ...Object.fromEntries(fields.map(([name, messages]) => [fieldPath(name), messages.join(' ')])),
    root: { serverError: [title, ...all].join('\n') },
  }
}
