import type { MessageCode } from '../../types/messages.js'
import type { Resource } from '../../types/resource.js'
import { createMessage } from './messages.js'
import { type ProblemCode, type ProblemErrors, problem } from './problem.js'

/** Collects the errors of one request body by their place in the body. */
export class BodyErrors {
  // A Map, because a body may have a member named `__proto__`.
  readonly #errors = new Map<string, readonly string[]>()

  get all(): ProblemErrors {
    return Object.fromEntries(this.#errors)
  }

  /**
   * Adds errors, with a prefix for their places. The errors replace earlier errors at equal places. An error of the whole
   * record has an empty place.
   */
  add(errors: ProblemErrors, prefix = ''): void {
    for (const [place, messages] of Object.entries(errors))
      this.#errors.set(place === '' ? prefix.replace(/\.$/, '') : prefix + place, messages)
  }
}

/** Reports one message at each of several places of a body. */
export function errorsAt(
  { translate }: Pick<Resource, 'translate'>,
  places: readonly string[],
  code: MessageCode,
): ProblemErrors {
  return Object.fromEntries(places.map((place) => [place, [translate(createMessage(code))]]))
}

/** Merges the errors of several parts of a body. Later errors replace earlier errors at equal places. */
export function mergeErrors(parts: readonly ProblemErrors[]): ProblemErrors {
  return Object.assign({}, ...parts)
}

export function hasErrors(errors: ProblemErrors): boolean {
  return Object.keys(errors).length > 0
}

/** Throws the errors, if there are any. @throws Problem with all errors */
export function refuse(code: ProblemCode, errors: ProblemErrors, detail?: string): void {
  if (hasErrors(errors)) throw problem(code, { ...(detail === undefined ? {} : { detail }), errors })
}
