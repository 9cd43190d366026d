// Errors of a request with several writes. Each error gets its position in the request, and all validation errors are
// reported together.

import type { BulkCreatePlan, CreatePlan, Plan, UpdatePlan } from '../../../types/plan.js'
import type { Branch, Work } from '../../../types/work.js'
import { BodyErrors } from '../../common/bodyErrors.js'
import { Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { validationIn } from '../../sequelize/failure.js'
import { problemOf, problemWithin } from '../failure.js'
import { errorsOfPlan } from '../newRecords.js'
import { type Store, storeOf } from '../store.js'
import { limited } from '../transaction.js'

/** The write that an error belongs to. */
interface Attribution {
  readonly store: Store
  readonly plan: Plan
}

const attributions = new WeakMap<object, Attribution>()

/** The write that an error belongs to, or null if it belongs to the whole transaction. */
export function writeOf(error: unknown): Attribution | null {
  return typeof error === 'object' && error !== null ? (attributions.get(error) ?? null) : null
}

/** Runs one of several writes. Validation errors get their positions in the request. */
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

/** Errors of one record are named by its fields alone. */
const ONE = { kind: 'update' } as const

/** Runs the write of one item. Validation errors get the item's position. Other errors belong to the whole request. */
export async function inPlace<T>(
  store: Store,
  index: number,
  plan: CreatePlan | BulkCreatePlan | UpdatePlan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Database errors of a bulk create name fields without a position, whichever statement inserts the records.
    const isKnown = error instanceof Problem || plan.kind === 'bulkCreate'
    const known = isKnown ? error : problemOf(error, store.resource, plan)
    throw placed(error, known, ONE, [`[${index}]`])
  }
}

/** The Problem with positions for validation errors. Other errors are returned unchanged. */
function placed(error: unknown, known: unknown, plan: Pick<Plan, 'kind'>, places: readonly string[]): unknown {
  if (!hasFields(known)) return error
  const { detail, errors } = known
  const more = { ...(detail === undefined ? {} : { detail }), errors: inPlaces(errors, plan, places) }
  return Object.assign(problem('validation', more), { cause: error })
}

function hasFields(error: unknown): error is Problem & { readonly errors: ProblemErrors } {
  return error instanceof Problem && error.code === 'validation' && error.errors !== undefined
}

/** Errors with the names that the values have in the request. */
function inPlaces(errors: ProblemErrors, { kind }: Pick<Plan, 'kind'>, places: readonly string[]): ProblemErrors {
  const placeOf = (name: string): string =>
    kind === 'bulkCreate' ? inPlaceOf(name, places) : [places[0], name].filter((part) => part).join('.')
  return Object.fromEntries(Object.entries(errors).map(([name, messages]) => [placeOf(name), messages]))
}

/** Turns `[2].name` into the name at the third position. */
function inPlaceOf(name: string, places: readonly string[]): string {
  const found = /^\[(\d+)\]/.exec(name)
  const place = found === null ? undefined : places[Number(found[1])]
  if (found === null || place === undefined) return name
  const rest = name.slice(found[0].length)
  return place === '' ? rest.replace(/^\./, '') : place + rest
}

/**
 * Runs work for several parts of a request and collects their validation errors.
 * @throws Problem 400 with all errors; any other error at once if no validation error came before
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

/** Whether a work has validation errors that are known before the write. */
export function isFaulty({ plan, branches = [] }: Work): boolean {
  const isInvalid = plan.kind === 'bulkCreate' ? plan.invalid.size > 0 : 'invalid' in plan && plan.invalid !== null
  return isInvalid || branches.some(isFaultyBranch)
}

export function isFaultyBranch(branch: Branch): boolean {
  return Object.keys(branch.faults).length > 0 || (branch.kind === 'new' && isFaulty(branch.work))
}

/** All validation errors of branches and works, including nested works. */
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

/** Runs a part of a write. If it fails, the validation errors of these works are reported as well. */
export async function withErrorsOf<T>(works: () => readonly Work[], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (typeof error === 'object' && error !== null) others.set(error, [...(others.get(error) ?? []), ...works()])
    throw error
  }
}

/**
 * The error of a failed write with all validation errors of its works. Other errors are returned unchanged. Call it
 * after the transaction: validators of the host may use the database.
 */
export async function withAllErrors(error: unknown, store: Store, work: Work): Promise<unknown> {
  // A Sequelize validation error belongs to the top record. Errors of nested records already have positions.
  const known = validationIn(error) === null ? error : problemOf(error, store.resource, work.plan)
  if (!hasFields(known)) return error
  const works = [work, ...(others.get(Object(error)) ?? [])]
  const errors = { ...(await limited(store, () => errorsOf(works))), ...known.errors }
  return Object.assign(problem('validation', { errors }), { cause: error })
}
