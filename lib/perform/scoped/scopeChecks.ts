// Checks scope conditions before a request writes, with the new values and the current records. A row that the request
// writes must not bring another record into a scope.

import type { Changes } from '../../../types/changes.js'
import type { BulkCreatePlan, CreatePlan, UpdatePlan } from '../../../types/plan.js'
import type { NestedWrite, Work } from '../../../types/work.js'
import { errorsAt, hasErrors, mergeErrors } from '../../common/bodyErrors.js'
import { type Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { runsHooks } from '../executor.js'
import { collectPlanErrors } from '../newRecords.js'
import { findExisting, fullConditionOf, missedWriteError, prepareChanged } from '../refusal.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { loadTableTraits } from '../tableTraits.js'
import { withWriteTimeout } from '../transaction.js'
import { collectValueErrors, NO_ERRORS } from '../validation.js'
import { findFailing, type PendingRecord } from './pendingRecords.js'
import { requestHistoryOf } from './requestHistory.js'

type StorablePlan = CreatePlan | BulkCreatePlan | UpdatePlan

/** Returns the Problem for a record that would be stored outside the caller's scope. */
export function outOfScopeProblem(errors: ProblemErrors = {}): Problem {
  const detail = 'You may not store this record.'
  return problem('forbidden', hasErrors(errors) ? { detail, errors } : { detail })
}

/**
 * Checks that the scope admits the values of a write. A missing record, a failed precondition and invalid values are
 * reported first.
 * @throws Problem 404, 428, 412, 400 or 403
 */
export async function assertWithinScope(store: StatementContext, plan: StorablePlan): Promise<void> {
  const failing = await findOutOfScope(store, [plan])
  if (failing.length === 0) return
  const errors =
    'key' in plan
      ? await collectUpdateErrors(store, plan)
      : await withWriteTimeout(store, () => collectPlanErrors(store, plan))
  if (hasErrors(errors)) throw problem('validation', { errors })
  if (plan.kind !== 'bulkCreate') throw outOfScopeProblem()
  const places = (await findAllRefused(store, plan, failing)).map((index) => `[${index}]`)
  throw outOfScopeProblem(errorsAt(store.resource, places, 'scope'))
}

async function collectUpdateErrors(store: StatementContext, plan: UpdatePlan): Promise<ProblemErrors> {
  const { precondition, invalid, before } = plan
  if (precondition?.where === null) throw precondition.createError()
  if ((await findExisting(store, { kind: plan.kind, where: fullConditionOf(plan) })) === null)
    throw await missedWriteError(store, plan)
  return collectValueErrors(store, invalid ?? NO_ERRORS, await prepareChanged(store, plan), {
    hasHostCode: before !== null,
  })
}

/**
 * Checks the scopes of several writes before the first write.
 * @throws Problem 403 with the positions of all rejected records
 */
export async function assertAllWithinScope(
  store: StatementContext,
  works: readonly Work<StorablePlan>[],
): Promise<void> {
  for (const { resource, plan } of works) noteNewRecords(store, resource, plan)
  const failing = new Map<Work, readonly number[]>()
  for (const work of works)
    failing.set(work, await findOutOfScope(storeInSameTransaction(store, work.resource), [work.plan]))
  if ([...failing.values()].every(({ length }) => length === 0)) return
  const errors: ProblemErrors[] = []
  for (const work of works) {
    const { resource, plan, places } = work
    const refused = await findAllRefused(storeInSameTransaction(store, resource), plan, failing.get(work) ?? [])
    const at = refused.flatMap((index) => places?.[index] || (plan.kind === 'bulkCreate' ? `[${index}]` : []))
    errors.push(errorsAt(resource, at, 'scope'))
  }
  throw outOfScopeProblem(mergeErrors(errors))
}

/**
 * Returns the positions of all refused records, if `failing` are refused. For the other new records, attributes that
 * nothing sets count as null. Such records would be refused only after they are stored.
 */
async function findAllRefused(
  store: StatementContext,
  plan: StorablePlan,
  failing: readonly number[],
): Promise<readonly number[]> {
  if (plan.kind !== 'bulkCreate' || runsHooks(store, plan)) return failing
  const { hasDefault } = await loadTableTraits(store)
  const { fields, model } = store.resource
  const unset = fields.filter(({ name, column, virtual, nullable }) => {
    const isSet = hasDefault(column) || model.getAttributes()[name]?.defaultValue !== undefined
    return nullable && !virtual && !isSet && plan.parentKeys?.includes(name) !== true
  })
  const nulls = unset.map(({ name }) => [name, null] as const)
  const askable = pendingRecordsOf(plan).flatMap((record, place) =>
    record === null ? [] : [{ ...record, values: new Map([...nulls, ...record.values]), place }],
  )
  return findFailing(store, askable)
}

/**
 * Registers new records with keys that the client has chosen, because other records of the request may refer to these
 * keys.
 */
function noteNewRecords(store: StatementContext, resource: Work['resource'], plan: StorablePlan): void {
  const before = requestHistoryOf(store)
  if (before === null || 'key' in plan) return
  for (const values of plan.kind === 'create' ? [plan.changes] : plan.records) before.noteNewValues(resource, values)
}

/** Returns the works of a new record and of all new records nested in it. */
export function newWorksIn(work: Work): readonly Work<StorablePlan>[] {
  const { plan, nestedWrites = [] } = work
  const nested = nestedWrites.flatMap((nestedWrite) => (nestedWrite.kind === 'new' ? newWorksIn(nestedWrite.work) : []))
  return plan.kind === 'create' || plan.kind === 'bulkCreate' ? [{ ...work, plan }, ...nested] : nested
}

export function markScopeChecked<W extends Work>(work: W): W {
  const { plan, nestedWrites } = work
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  return {
    ...work,
    plan: 'scope' in plan && plan.scope !== undefined ? { ...plan, isScopeChecked: true } : plan,
    ...(isNew && nestedWrites !== undefined ? { nestedWrites: nestedWrites.map(markNestedChecked) } : {}),
  }
}

/** Marks the new records of a nested write as checked. */
export function markNestedChecked(nestedWrite: NestedWrite): NestedWrite {
  return nestedWrite.kind === 'new' ? { ...nestedWrite, work: markScopeChecked(nestedWrite.work) } : nestedWrite
}

/**
 * Returns the positions of the records outside the scope. For a bulk create, these are positions among the records of
 * the plan.
 */
export async function findOutOfScope(
  store: StatementContext,
  plans: readonly StorablePlan[],
): Promise<readonly number[]> {
  if (plans.every(isAdmitted)) return []
  const all = plans.flatMap((plan) => pendingRecordsOf(plan))
  const askable = all.flatMap((record, place) => (record === null ? [] : [{ ...record, place }]))
  return findFailing(store, askable)
}

/** Whether a plan's scope needs no check. */
function isAdmitted({ scope, isScopeChecked }: StorablePlan): boolean {
  return scope === undefined || isScopeChecked === true
}

/**
 * Returns the records with the values that are known before the write. Omits foreign keys to parents that the request
 * creates.
 */
function pendingRecordsOf(plan: StorablePlan): readonly (Omit<PendingRecord, 'place'> | null)[] {
  const { scope } = plan
  const isSkipped = scope === undefined || isAdmitted(plan)
  if (plan.kind === 'create') {
    return [isSkipped ? null : { scope, stored: null, values: new Map([...plan.changes, ...plan.serverValues]) }]
  }
  if (plan.kind !== 'bulkCreate') {
    const { identity, changes, serverValues } = plan
    const stored = { identity, increments: serverValues.increments }
    return [isSkipped ? null : { scope, stored, values: new Map([...changes, ...serverValues.values]) }]
  }
  const { records, serverValues, parentKeys = [] } = plan
  return records.map((changes) => {
    if (isSkipped) return null
    const values: Changes = new Map([...changes, ...serverValues].filter(([name]) => !parentKeys.includes(name)))
    return { scope, stored: null, values }
  })
}
