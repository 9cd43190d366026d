import type { Branch, Work } from '../../types/work.js'
import { Problem, type ProblemErrors, problem } from '../common/problem.js'
import { validationIn } from '../sequelize/failure.js'
import { inPlaces } from './blame.js'
import { buildInstance } from './build.js'
import { problemOf } from './failure.js'
import { faultsOfAll as faultsOfRecords } from './newRecords.js'
import { type Store, storeOf } from './store.js'
import { limited } from './transaction.js'
import { faultsOf, NOTHING, partialOf } from './validation.js'

/** Whether something is wrong with the form of a work, or its rules have found something. */
export function isFaulty({ plan, branches = [] }: Work): boolean {
  const isInvalid = plan.kind === 'bulkCreate' ? plan.invalid.size > 0 : 'invalid' in plan && plan.invalid !== null
  return isInvalid || branches.some(isFaultyBranch)
}

export function isFaultyBranch(branch: Branch): boolean {
  return Object.keys(branch.faults).length > 0 || (branch.kind === 'new' && isFaulty(branch.work))
}

/** All that is wrong with the bodies of a work, those within them included. */
export async function faultsOfWork(store: Store, work: Work): Promise<ProblemErrors> {
  const { plan, places, branches = [] } = work
  const own = await ownFaults(store, work)
  const found = places === undefined ? own : inPlaces(own, plan, places)
  return { ...found, ...(await faultsOfBranches(branches)) }
}

export async function faultsOfBranches(branches: readonly Branch[]): Promise<ProblemErrors> {
  const errors: ProblemErrors[] = []
  for (const branch of branches) {
    errors.push(branch.faults)
    if (branch.kind === 'new') errors.push(await faultsOfWork(storeOf(branch.resource), branch.work))
  }
  return Object.assign({}, ...errors)
}

/** The same of several works. */
export async function faultsOfAll(works: readonly Work[]): Promise<ProblemErrors> {
  const errors: ProblemErrors[] = []
  for (const work of works) errors.push(await faultsOfWork(storeOf(work.resource), work))
  return Object.assign({}, ...errors)
}

async function ownFaults(store: Store, { plan }: Work): Promise<ProblemErrors> {
  switch (plan.kind) {
    case 'create': {
      const build = () => buildInstance(store, plan.changes, plan.upkeep)
      return faultsOf(store, plan.invalid ?? NOTHING, build, { isPrepared: plan.before !== null })
    }
    case 'update': {
      // What looks at the whole record has its say when it is written.
      if (plan.invalid === null && store.resource.validation === 'instance') return {}
      const build = () => partialOf(store, plan.changes)
      return faultsOf(store, plan.invalid ?? NOTHING, build, { isPrepared: plan.before !== null })
    }
    case 'bulkCreate':
      return faultsOfRecords(store, plan)
    default:
      return {}
  }
}

const others = new WeakMap<object, readonly Work[]>()

/** Does a part of a write. What is wrong with these works as well is told with what is refused of it. */
export async function telling<T>(works: () => readonly Work[], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (typeof error === 'object' && error !== null) others.set(error, [...(others.get(error) ?? []), ...works()])
    throw error
  }
}

/**
 * What a refused write is told of: what one of its parts has found wrong, and all that is wrong with the others. Errors of
 * another kind come back as they are. For when the transaction is over: validators of the host's may ask the database.
 */
export async function withAllFaults(error: unknown, store: Store, work: Work): Promise<unknown> {
  // What Sequelize has found is the request's own record's: that of others has its place by now.
  const known = validationIn(error) === null ? error : problemOf(error, store.resource, work.plan)
  if (!(known instanceof Problem) || known.code !== 'validation' || known.errors === undefined) return error
  const works = [work, ...(others.get(Object(error)) ?? [])]
  const errors = { ...(await limited(store, () => faultsOfAll(works))), ...known.errors }
  return Object.assign(problem('validation', { errors }), { cause: error })
}
