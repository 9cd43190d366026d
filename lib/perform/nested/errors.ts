// The errors of one request whose parts are written one after the other: each error has its place in the request, and all errors of
// values are in one answer.

import type { BulkCreatePlan, CreatePlan, Plan, UpdatePlan } from '../../../types/plan.js'
import type { Branch, Work } from '../../../types/work.js'
import { BodyErrors } from '../../common/bodyErrors.js'
import { Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { validationIn } from '../../sequelize/failure.js'
import { problemOf, problemWithin } from '../failure.js'
import { errorsOfPlan } from '../newRecords.js'
import { type Store, storeOf } from '../store.js'
import { limited } from '../transaction.js'

/** The one of several writes in one transaction that an error belongs to. */
interface Attribution {
  readonly store: Store
  readonly plan: Plan
}

const attributions = new WeakMap<object, Attribution>()

/** The write that an error belongs to, of those in one transaction; null if it belongs to all of them. */
export function writeOf(error: unknown): Attribution | null {
  return typeof error === 'object' && error !== null ? (attributions.get(error) ?? null) : null
}

/** Does one of several writes. Errors of its values get the places that they have in the request. */
export async function attributed<T>(store: Store, { plan, places }: Work, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = error instanceof Problem ? error : problemWithin(error, store.resource, plan)
    const told = places === undefined ? error : placed(error, known, plan, places)
    if (typeof told === 'object' && told !== null && !attributions.has(told)) attributions.set(told, { store, plan })
    throw told
  }
}

/** Errors of one record have the names of its values alone. */
const ONE = { kind: 'update' } as const

/** Does the write of one item of several. Errors of its values get the place of the item; other failures are those of the whole. */
export async function inPlace<T>(
  store: Store,
  index: number,
  plan: CreatePlan | BulkCreatePlan | UpdatePlan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Errors of the table in a bulk create have the names of values alone, whichever statement inserts the records.
    const isKnown = error instanceof Problem || plan.kind === 'bulkCreate'
    const known = isKnown ? error : problemOf(error, store.resource, plan)
    throw placed(error, known, ONE, [`[${index}]`])
  }
}

/** The Problem of an error of values, with their places; the error itself if it is of another kind. */
function placed(error: unknown, known: unknown, plan: Pick<Plan, 'kind'>, places: readonly string[]): unknown {
  if (!hasFields(known)) return error
  const { detail, errors } = known
  const more = { ...(detail === undefined ? {} : { detail }), errors: inPlaces(errors, plan, places) }
  return Object.assign(problem('validation', more), { cause: error })
}

function hasFields(error: unknown): error is Problem & { readonly errors: ProblemErrors } {
  return error instanceof Problem && error.code === 'validation' && error.errors !== undefined
}

/** Errors of one write under the names that its values have in the request. */
function inPlaces(errors: ProblemErrors, { kind }: Pick<Plan, 'kind'>, places: readonly string[]): ProblemErrors {
  const placeOf = (name: string): string =>
    kind === 'bulkCreate' ? inPlaceOf(name, places) : [places[0], name].filter((part) => part).join('.')
  return Object.fromEntries(Object.entries(errors).map(([name, messages]) => [placeOf(name), messages]))
}

/** `[2].name` of the third of the places. */
function inPlaceOf(name: string, places: readonly string[]): string {
  const found = /^\[(\d+)\]/.exec(name)
  const place = found === null ? undefined : places[Number(found[1])]
  if (found === null || place === undefined) return name
  const rest = name.slice(found[0].length)
  return place === '' ? rest.replace(/^\./, '') : place + rest
}

/**
 * Does something with each of several parts of a request. What is wrong with the values of one keeps nothing from being found
 * wrong with those of the others: all of it is told at once.
 *
 * @throws Problem 400 with the places of all; any other failure as it comes, unless something was found before
 */
export async function collecting<T, R>(
  all: Iterable<T>,
  work: (one: T, isDoomed: boolean) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const found: Problem[] = []
  const errors = new BodyErrors()
  for (const one of all) {
    try {
      results.push(await work(one, found.length > 0))
    } catch (error) {
      if (!hasFields(error) && found.length === 0) throw error
      if (!hasFields(error)) break
      found.push(error)
      errors.add(error.errors)
    }
  }
  const [first, ...others] = found
  if (first === undefined) return results
  throw others.length === 0 ? first : problem('validation', { errors: errors.all })
}

/** Whether something is wrong with the form of a work, or its rules have found something. */
export function isFaulty({ plan, branches = [] }: Work): boolean {
  const isInvalid = plan.kind === 'bulkCreate' ? plan.invalid.size > 0 : 'invalid' in plan && plan.invalid !== null
  return isInvalid || branches.some(isFaultyBranch)
}

export function isFaultyBranch(branch: Branch): boolean {
  return Object.keys(branch.faults).length > 0 || (branch.kind === 'new' && isFaulty(branch.work))
}

/** All errors of bodies: those of branches, of works, and of the works within them. */
export async function errorsOf(works: readonly Work[], branches: readonly Branch[] = []): Promise<ProblemErrors> {
  const errors = new BodyErrors()
  await collectBranches(errors, branches)
  for (const work of works) await collectWork(errors, work)
  return errors.all
}

async function collectWork(errors: BodyErrors, { resource, plan, places, branches = [] }: Work): Promise<void> {
  const own = await errorsOfPlan(storeOf(resource), plan)
  errors.add(places === undefined ? own : inPlaces(own, plan, places))
  await collectBranches(errors, branches)
}

async function collectBranches(errors: BodyErrors, branches: readonly Branch[]): Promise<void> {
  for (const branch of branches) {
    errors.add(branch.faults)
    if (branch.kind === 'new') await collectWork(errors, branch.work)
  }
}

const others = new WeakMap<object, readonly Work[]>()

/** Does a part of a write. If an error refuses it, the answer has the errors of these works too. */
export async function withErrorsOf<T>(works: () => readonly Work[], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (typeof error === 'object' && error !== null) others.set(error, [...(others.get(error) ?? []), ...works()])
    throw error
  }
}

/**
 * The error of a refused write with all errors of its works. Errors of another kind come back as they are. For when the transaction
 * is over: validators of the host's may ask the database.
 */
export async function withAllErrors(error: unknown, store: Store, work: Work): Promise<unknown> {
  // Errors of Sequelize's validators are the request's own record's: those of other records have their places by now.
  const known = validationIn(error) === null ? error : problemOf(error, store.resource, work.plan)
  if (!hasFields(known)) return error
  const works = [work, ...(others.get(Object(error)) ?? [])]
  const errors = { ...(await limited(store, () => errorsOf(works))), ...known.errors }
  return Object.assign(problem('validation', { errors }), { cause: error })
}
