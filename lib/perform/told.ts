import { Problem, type ProblemErrors, problem } from '../common/problem.js'

/**
 * Does something with each of several parts of a request. What is wrong with the values of one keeps nothing from being found
 * wrong with those of the others: all of it is told at once.
 *
 * @throws Problem 400 with the places of all; any other failure as it comes, unless something was found before
 */
export async function toldTogether<T, R>(
  all: Iterable<T>,
  work: (one: T, isDoomed: boolean) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const found: Problem[] = []
  for (const one of all) {
    try {
      results.push(await work(one, found.length > 0))
    } catch (error) {
      const isTold = error instanceof Problem && error.code === 'validation' && error.errors !== undefined
      if (!isTold && found.length === 0) throw error
      if (!isTold) break
      found.push(error)
    }
  }
  const [first, ...others] = found
  if (first === undefined) return results
  throw others.length === 0 ? first : problem('validation', { errors: allOf(found) })
}

function allOf(found: readonly Problem[]): ProblemErrors {
  return Object.assign({}, ...found.map(({ errors }) => errors))
}
