import type { MessageCode } from '../../types/messages.js'
import type { Resource } from '../../types/resource.js'
import { fault } from './messages.js'
import { type ProblemCode, type ProblemErrors, problem } from './problem.js'

/** Collects the errors of one request body, by their places in it. */
export class BodyErrors {
  readonly #errors: Record<string, readonly string[]> = {}

  get all(): ProblemErrors {
    return this.#errors
  }

  /** Adds errors. They replace those that their places have. */
  add(errors: ProblemErrors): this {
    Object.assign(this.#errors, errors)
    return this
  }
}

/** One error at several places. */
export function errorsAt(
  { tell }: Pick<Resource, 'tell'>,
  places: readonly string[],
  code: MessageCode,
): ProblemErrors {
  return Object.fromEntries(places.map((place) => [place, [tell(fault(code))]]))
}

export function hasErrors(errors: ProblemErrors): boolean {
  return Object.keys(errors).length > 0
}

/** @throws Problem with the errors, if there are any */
export function refuse(code: ProblemCode, errors: ProblemErrors, detail?: string): void {
  if (hasErrors(errors)) throw problem(code, { ...(detail === undefined ? {} : { detail }), errors })
}
