// Errors of a request with several writes. Each error gets its position in the request, and all validation errors are
// reported together.

import type { BulkCreatePlan, CreatePlan, Plan, UpdatePlan } from '../../../types/plan.js'
import type { NestedWrite, Work } from '../../../types/work.js'
import { BodyErrors } from '../../common/bodyErrors.js'
import { Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { findValidationErrors } from '../../sequelize/failure.js'
import { failureProblem, partFailureProblem } from '../failure.js'
import { collectPlanErrors } from '../newRecords.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { withWriteTimeout } from '../transaction.js'

/** Write that an error belongs to. */
interface Attribution {
  readonly store: StatementContext
  readonly plan: Plan
}

const attributionByError = new WeakMap<object, Attribution>()

/** Other writes of the request whose validation errors are reported with an error. */
const otherWorks = new WeakMap<object, readonly Work[]>()

/** Returns the write that an error belongs to, or null if the error belongs to the whole transaction. */
export function attributionOf(error: unknown): Attribution | null {
  return typeof error === 'object' && error !== null ? (attributionByError.get(error) ?? null) : null
}

/** Runs one of several writes. Adds positions in the request to validation errors. */
export async function attributeErrors<T>(
  store: StatementContext,
  { plan, places }: Work,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const known = error instanceof Problem ? error : partFailureProblem(error, store.resource, plan)
    const thrown = places === undefined ? error : placeError(error, known, plan, places)
    if (typeof thrown === 'object' && thrown !== null && !attributionByError.has(thrown))
      attributionByError.set(thrown, { store, plan })
    throw thrown
  }
}

/** With this kind of plan, error names have no array position. */
const SINGLE_UPDATE = { kind: 'update' } as const

/**
 * Runs the write of one item. Adds the item's position to validation errors. Other errors belong to the whole request.
 */
export async function attributeToPlace<T>(
  store: StatementContext,
  index: number,
  plan: CreatePlan | BulkCreatePlan | UpdatePlan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Database errors of a bulk create name fields without a position, whichever statement inserts the records. On
    // SQLite, Sequelize reports every constraint as a validation error, without items.
    const isOfDatabase = plan.kind === 'bulkCreate' && (findValidationErrors(error) ?? []).length === 0
    const isKnown = error instanceof Problem || isOfDatabase
    const known = isKnown ? error : failureProblem(error, store.resource, plan)
    throw placeError(error, known, SINGLE_UPDATE, [`[${index}]`])
  }
}

/** Adds positions to the names of validation errors. Returns other errors unchanged. */
function placeError(error: unknown, known: unknown, plan: Pick<Plan, 'kind'>, places: readonly string[]): unknown {
  if (!hasFieldErrors(known)) return error
  const { detail, errors } = known
  const more = { ...(detail === undefined ? {} : { detail }), errors: placeFieldNames(errors, plan, places) }
  return Object.assign(problem('validation', more), { cause: error })
}

function hasFieldErrors(error: unknown): error is Problem & { readonly errors: ProblemErrors } {
  return error instanceof Problem && error.code === 'validation' && error.errors !== undefined
}

/** Replaces field names by the paths of the values in the request. */
function placeFieldNames(
  errors: ProblemErrors,
  { kind }: Pick<Plan, 'kind'>,
  places: readonly string[],
): ProblemErrors {
  const placeOf = (name: string): string =>
    kind === 'bulkCreate' ? placeInBatch(name, places) : [places[0], name].filter((part) => part).join('.')
  return Object.fromEntries(Object.entries(errors).map(([name, messages]) => [placeOf(name), messages]))
}

/** Replaces the array index of a name such as `[2].name` by the place of that record, `places[2]`. */
function placeInBatch(name: string, places: readonly string[]): string {
  const found = /^\[(\d+)\]/.exec(name)
  const place = found === null ? undefined : places[Number(found[1])]
  if (found === null || place === undefined) return name
  const rest = name.slice(found[0].length)
  return place === '' ? rest.replace(/^\./, '') : place + rest
}

/**
 * Runs `work` for several parts of a request and collects their validation errors.
 * @throws Problem 400 with all validation errors
 * @throws any other error at once, if no validation error came before
 */
export async function collectErrors<T, R>(
  parts: Iterable<T>,
  work: (one: T, isDoomed: boolean) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const found: Problem[] = []
  const errors = new BodyErrors()
  for (const one of parts) {
    try {
      results.push(await work(one, found.length > 0))
    } catch (error) {
      if (!hasFieldErrors(error) && found.length === 0) throw error
      if (!hasFieldErrors(error)) break
      found.push(error)
      errors.add(error.errors)
    }
  }
  const [first, ...others] = found
  if (first === undefined) return results
  if (others.length === 0) throw first
  const all = problem('validation', { errors: errors.all })
  otherWorks.set(
    all,
    found.flatMap((each) => otherWorks.get(each) ?? []),
  )
  throw all
}

/** Whether planning has found validation errors in a write or its nested writes. */
export function hasWorkErrors({ plan, nestedWrites = [] }: Work): boolean {
  const isInvalid = plan.kind === 'bulkCreate' ? plan.invalid.size > 0 : 'invalid' in plan && plan.invalid !== null
  return isInvalid || nestedWrites.some(hasNestedErrors)
}

export function hasNestedErrors(nestedWrite: NestedWrite): boolean {
  return Object.keys(nestedWrite.errors).length > 0 || (nestedWrite.kind === 'new' && hasWorkErrors(nestedWrite.work))
}

/**
 * Returns all validation errors of `works` and `nestedWrites`, including nested writes. Reads the records that validators
 * need in the transaction of `store`.
 */
export async function errorsOfWorks(
  store: StatementContext,
  works: readonly Work[],
  nestedWrites: readonly NestedWrite[] = [],
): Promise<ProblemErrors> {
  const errors = new BodyErrors()
  const collectWork = async ({ resource, plan, places, nestedWrites: inside = [] }: Work): Promise<void> => {
    const own = await collectPlanErrors(storeInSameTransaction(store, resource), plan)
    errors.add(places === undefined ? own : placeFieldNames(own, plan, places))
    await collectNestedWrites(inside)
  }
  const collectNestedWrites = async (inside: readonly NestedWrite[]): Promise<void> => {
    for (const nestedWrite of inside) {
      errors.add(nestedWrite.errors)
      if (nestedWrite.kind === 'new') await collectWork(nestedWrite.work)
    }
  }
  await collectNestedWrites(nestedWrites)
  for (const work of works) await collectWork(work)
  return errors.all
}

/** Runs `write`. If `write` fails, `addAllErrors` also reports the validation errors of `works`. */
export async function withErrorsOfWorks<T>(works: () => readonly Work[], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (typeof error === 'object' && error !== null)
      otherWorks.set(error, [...(otherWorks.get(error) ?? []), ...works()])
    throw error
  }
}

/**
 * Completes a validation error by the other validation errors of the request, and by those that `findOthers` finds.
 * Returns other errors unchanged. Call it after the transaction, because validators of the host may use the database.
 */
export async function addAllErrors(
  error: unknown,
  store: StatementContext,
  work: Work,
  findOthers: (works: readonly Work[]) => Promise<ProblemErrors>,
): Promise<unknown> {
  // A Sequelize validation error without a position belongs to the top-level record.
  const known = findValidationErrors(error) === null ? error : failureProblem(error, store.resource, work.plan)
  if (!hasFieldErrors(known)) return error
  const works = [work, ...(otherWorks.get(Object(error)) ?? [])]
  const found = await withWriteTimeout(store, () => errorsOfWorks(store, works))
  const errors = { ...found, ...(await findOthers(works)), ...known.errors }
  return Object.assign(problem('validation', { errors }), { cause: error })
}
