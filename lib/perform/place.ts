import type { MessageCode } from '../../types/messages.js'
import type { CreatePlan, UpdatePlan } from '../../types/plan.js'
import { fault } from '../common/messages.js'
import { Problem, type ProblemCode, problem } from '../common/problem.js'
import { problemOf } from './failure.js'
import type { Store } from './store.js'

/**
 * Does one of several writes. What is wrong with its values is told with its place; other failures are those of the whole.
 */
export async function inPlace<T>(
  store: Store,
  index: number,
  plan: CreatePlan | UpdatePlan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = error instanceof Problem ? error : problemOf(error, store.resource, plan)
    if (known?.code !== 'validation' || known.errors === undefined) throw error
    const errors = Object.entries(known.errors).map(([name, messages]) => [`[${index}].${name}`, messages])
    const { detail } = known
    const placed = problem('validation', {
      ...(detail === undefined ? {} : { detail }),
      errors: Object.fromEntries(errors),
    })
    throw Object.assign(placed, { cause: error })
  }
}

/** Refuses a write of several for those of its items that have something in common; none, no refusal. */
export function refuseItems(
  { resource }: Store,
  places: readonly number[],
  why: { readonly problem: ProblemCode; readonly message: MessageCode; readonly detail?: string },
): void {
  if (places.length === 0) return
  const messages = [resource.tell(fault(why.message))]
  throw problem(why.problem, {
    ...(why.detail === undefined ? {} : { detail: why.detail }),
    errors: Object.fromEntries(places.map((index) => [`[${index}]`, messages])),
  })
}
