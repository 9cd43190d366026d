import { CrudConfigError, combineConfigErrors } from '../common/errors.js'

/** Collects all errors in the options of one mount. */
export class ConfigProblems {
  readonly #errors: CrudConfigError[] = []

  add(problem: CrudConfigError): void {
    this.#errors.push(problem)
  }

  /**
   * Returns the result of a pass; undefined if the pass threw a CrudConfigError, which is collected. Other errors are
   * thrown.
   */
  attempt<T>(pass: () => T): T | undefined {
    try {
      return pass()
    } catch (error) {
      if (!(error instanceof CrudConfigError)) throw error
      this.add(error)
      return undefined
    }
  }

  /**
   * Throws the collected errors, if there are any. @throws CrudConfigError with all errors, under the code of the first
   */
  throwIfAny(): void {
    const [first, ...others] = this.#errors
    if (first !== undefined) throw others.length === 0 ? first : combineConfigErrors([first, ...others])
  }
}
