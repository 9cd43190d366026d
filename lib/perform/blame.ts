import type { Plan } from '../../types/plan.js'
import type { Work } from '../../types/work.js'
import { Problem, type ProblemErrors, problem } from '../common/problem.js'
import { validationIn } from '../sequelize/failure.js'
import { problemOf } from './failure.js'
import type { Store } from './store.js'

/** Which of several writes in one transaction an error belongs to. */
interface Blame {
  readonly store: Store
  readonly plan: Plan
}

const blames = new WeakMap<object, Blame>()

/** The write that an error belongs to, of those in one transaction; null where it is nobody's but the whole's. */
export function blameOf(error: unknown): Blame | null {
  return typeof error === 'object' && error !== null ? (blames.get(error) ?? null) : null
}

/** Does one of several writes. What is wrong with its values is told with the places that they have in the request. */
export async function blamed<T>(store: Store, { plan, places }: Work, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = placed(error, store, plan, places)
    if (typeof known === 'object' && known !== null && !blames.has(known)) blames.set(known, { store, plan })
    throw known
  }
}

function placed(error: unknown, store: Store, plan: Plan, places: Work['places']): unknown {
  if (places === undefined) return error
  const known =
    error instanceof Problem || validationIn(error) === null ? error : problemOf(error, store.resource, plan)
  if (!(known instanceof Problem)) return error
  if (known.code !== 'validation' || known.errors === undefined) return error
  const { detail } = known
  const errors = inPlaces(known.errors, plan, places)
  return Object.assign(problem('validation', { ...(detail === undefined ? {} : { detail }), errors }), { cause: error })
}

/** Messages of one write under the names that its values have in the request. */
export function inPlaces(errors: ProblemErrors, plan: Plan, places: readonly string[]): ProblemErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([name, messages]) => [
      plan.kind === 'bulkCreate' ? inPlace(name, places) : [places[0], name].filter((part) => part).join('.'),
      messages,
    ]),
  )
}

/** `[2].name` of the third of them. */
function inPlace(name: string, places: readonly string[]): string {
  const found = /^\[(\d+)\]/.exec(name)
  const place = found === null ? undefined : places[Number(found[1])]
  if (found === null || place === undefined) return name
  const rest = name.slice(found[0].length)
  return place === '' ? rest.replace(/^\./, '') : place + rest
}
