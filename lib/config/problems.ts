import { CrudConfigError } from '../common/errors.js'

/** Gathers what is wrong with the options of one mount, so that the host hears of all of it at once. */
export class ConfigProblems {
  readonly #found: CrudConfigError[] = []

  add(problem: CrudConfigError): void {
    this.#found.push(problem)
  }

  /** The result of a pass, or undefined where it found something wrong. Other errors are nobody's options. */
  attempt<T>(pass: () => T): T | undefined {
    try {
      return pass()
    } catch (error) {
      if (!(error instanceof CrudConfigError)) throw error
      this.add(error)
      return undefined
    }
  }

  /** @throws CrudConfigError that tells of everything that was found, under the code of the first */
  throwIfAny(): void {
    const [first, ...others] = this.#found
    if (first !== undefined) throw others.length === 0 ? first : CrudConfigError.of([first, ...others])
  }
}
