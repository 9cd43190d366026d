// Checks scope conditions before a request writes, with the new values and the current records: a record must not be
// admitted by a row that the same request writes.

import type { Changes } from '../../../types/changes.js'
import type { BulkCreatePlan, CreatePlan, UpdatePlan } from '../../../types/plan.js'
import type { Branch, Work } from '../../../types/work.js'
import { allErrors, errorsAt, hasErrors } from '../../common/bodyErrors.js'
import { type Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { errorsOfPlan } from '../newRecords.js'
import { changed, conditionOf, existing, refusalOf } from '../refusal.js'
import { beside, type Store } from '../store.js'
import { limited } from '../transaction.js'
import { faultsOf, NOTHING } from '../validation.js'
import { type Asked, failingAmong } from './asked.js'
import { knownBefore } from './before.js'

type Storing = CreatePlan | BulkCreatePlan | UpdatePlan

/** The error for a record that would be stored outside the caller's scope. */
export function unstorable(errors: ProblemErrors = {}): Problem {
  const detail = 'You may not store this record.'
  return problem('forbidden', hasErrors(errors) ? { detail, errors } : { detail })
}

/**
 * Checks the scope of a write's values. Errors of the record, its version and its values are reported first.
 * @throws Problem 404, 428, 412, 400 or 403
 */
export async function assertStorable(store: Store, plan: Storing): Promise<void> {
  const failing = await failingOf(store, [plan])
  if (failing.length === 0) return
  const errors =
    'key' in plan ? await errorsOfChange(store, plan) : await limited(store, () => errorsOfPlan(store, plan))
  if (hasErrors(errors)) throw problem('validation', { errors })
  if (plan.kind !== 'bulkCreate') throw unstorable()
  const places = failing.map((index) => `[${index}]`)
  throw unstorable(errorsAt(store.resource, places, 'scope'))
}

async function errorsOfChange(store: Store, plan: UpdatePlan): Promise<ProblemErrors> {
  const { precondition, invalid, before } = plan
  if (precondition?.where === null) throw precondition.refusal()
  if ((await existing(store, { kind: plan.kind, where: conditionOf(plan) })) === null)
    throw await refusalOf(store, plan)
  return faultsOf(store, invalid ?? NOTHING, await changed(store, plan), { isPrepared: before !== null })
}

/** Checks the scopes of several works before the first write. @throws Problem 403 with all positions */
export async function assertAllStorable(store: Store, works: readonly Work<Storing>[]): Promise<void> {
  for (const { resource, plan } of works) announce(store, resource, plan)
  const errors: ProblemErrors[] = []
  let isRefused = false
  for (const { resource, plan, places } of works) {
    const failing = await failingOf(beside(store, resource), [plan])
    isRefused ||= failing.length > 0
    const at = failing.flatMap((index) => places?.[index] || (plan.kind === 'bulkCreate' ? `[${index}]` : []))
    errors.push(errorsAt(resource, at, 'scope'))
  }
  if (isRefused) throw unstorable(allErrors(errors))
}

/** Registers new records whose keys the client has chosen. Other records of the request may refer to them. */
export function announce(store: Store, resource: Work['resource'], plan: Storing): void {
  const before = knownBefore(store)
  if (before === null || 'key' in plan) return
  for (const values of plan.kind === 'create' ? [plan.changes] : plan.records) before.willCreate(resource, values)
}

/** Works of a new record and of all new records nested in it. */
export function newWorks(work: Work): readonly Work<Storing>[] {
  const { plan, branches = [] } = work
  const held = branches.flatMap((branch) => (branch.kind === 'new' ? newWorks(branch.work) : []))
  return plan.kind === 'create' || plan.kind === 'bulkCreate' ? [{ ...work, plan }, ...held] : held
}

/** The work, marked as checked. */
export function asked<W extends Work>(work: W): W {
  const { plan, branches } = work
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  return {
    ...work,
    plan: 'scope' in plan && plan.scope !== undefined ? { ...plan, isAsked: true } : plan,
    ...(isNew && branches !== undefined ? { branches: branches.map(askedBranch) } : {}),
  }
}

/** The branch with its new records marked as checked. */
export function askedBranch(branch: Branch): Branch {
  return branch.kind === 'new' ? { ...branch, work: asked(branch.work) } : branch
}

/** Positions of the records outside the scope. For a bulk create they are positions among its records. */
export async function failingOf(store: Store, plans: readonly Storing[]): Promise<readonly number[]> {
  if (plans.every(isAdmitted)) return []
  const all = plans.flatMap((plan) => recordsOf(plan))
  const askable = all.flatMap((record, place) => (record === null ? [] : [{ ...record, place }]))
  return failingAmong(store, askable)
}

/** Whether a plan needs no check of its scope. */
function isAdmitted({ scope, isAsked }: Storing): boolean {
  return scope === undefined || isAsked === true
}

/** Records with the values that are known before the write. Keys of owners that the request creates are omitted. */
function recordsOf(plan: Storing): readonly (Omit<Asked, 'place'> | null)[] {
  const { scope } = plan
  const isSkipped = scope === undefined || isAdmitted(plan)
  if (plan.kind === 'create') {
    return [isSkipped ? null : { scope, stored: null, values: new Map([...plan.changes, ...plan.upkeep]) }]
  }
  if (plan.kind !== 'bulkCreate') {
    const { identity, changes, upkeep } = plan
    const stored = { identity, increments: upkeep.increments }
    return [isSkipped ? null : { scope, stored, values: new Map([...changes, ...upkeep.values]) }]
  }
  const { records, upkeep, owned = [] } = plan
  return records.map((changes) => {
    if (isSkipped) return null
    const values: Changes = new Map([...changes, ...upkeep].filter(([name]) => !owned.includes(name)))
    return { scope, stored: null, values }
  })
}
