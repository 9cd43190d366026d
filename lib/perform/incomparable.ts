import type { Field } from '../../types/field.js'
import { type Problem, problem } from '../common/problem.js'

/** The Problem for a comparison with a column whose type differs from the model's declaration. */
export function incomparable({ json }: Field): Problem {
  return problem('invalid-query', {
    detail: `"${json}" cannot be filtered, sorted or computed with: its column has another type than the service expects.`,
  })
}
