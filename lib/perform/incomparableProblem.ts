import type { Field } from '../../types/field.js'
import { type Problem, problem } from '../common/problem.js'

/** Returns the Problem for a comparison with a column whose type differs from the model's declaration. */
export function incomparableProblem({ json }: Field): Problem {
  return problem('invalid-query', {
    detail: `"${json}" cannot be filtered, sorted or aggregated: the type of its column differs from the model.`,
  })
}
