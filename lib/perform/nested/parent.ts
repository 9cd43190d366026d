import type { Outcome, Row } from '../../../types/outcome.js'
import type { KeyValue, UpdatePlan } from '../../../types/plan.js'
import type { NestedResult, NestedWrite, Work, WriteResult, WrittenPart } from '../../../types/work.js'
import { hasErrors, mergeErrors, refuse } from '../../common/bodyErrors.js'
import { internalError } from '../../common/internalError.js'
import { lockForWrite } from '../refusal.js'
import { requestHistoryOf } from '../scoped/requestHistory.js'
import { assertAllWithinScope, markScopeChecked } from '../scoped/scopeChecks.js'
import { type StatementContext, storeOf } from '../store.js'
import { diffChildren, executeInPlace } from './children.js'
import { assertVersions, type Diff, type PendingWrite, RemovalCounter, type WorkExecution } from './diff.js'
import { attributeErrors, collectErrors, errorsOfWorks, hasWorkErrors, withErrorsOfWorks } from './errors.js'
import { diffLinks } from './links.js'
import { referencedValuesOf } from './parentKeys.js'

/** Nested writes of a parent, each with the parent's key value that the children refer to. */
export interface ParentValues {
  readonly nestedWrites: readonly NestedWrite[]
  readonly values: readonly unknown[]
}

/**
 * Updates a record and replaces its nested records. Locks the record first, so that concurrent replacements of a
 * collection run one after the other. All checks run before the first write.
 * @throws Problem 404, 403, 428, 412, 400, in this order, with the positions of the elements
 */
export async function updateParent(
  store: StatementContext,
  work: Work<UpdatePlan>,
  execution: WorkExecution,
): Promise<WriteResult> {
  const { plan, nestedWrites = [] } = work
  const values = await lockParent(store, plan, nestedWrites)
  const [diffs = []] = await planDiffs(store, [{ nestedWrites, values }], { ...execution, parentKeys: [plan.key] })
  assertParentVersion(plan, values.at(-1))
  assertVersions(diffs.flatMap(({ versionChecks }) => versionChecks))
  const works = [work, ...diffs.flatMap((diff) => diff.works)]
  const errors = mergeErrors(diffs.map((diff) => diff.errors))
  if (hasErrors(errors) || works.some(hasWorkErrors))
    refuse('validation', { ...(await errorsOfWorks(store, works)), ...errors })
  await assertAllWithinScope(store, [work, ...(await planPendingWrites(store, diffs, execution))])
  return withErrorsOfWorks(
    () => works,
    async () => {
      const outcome = await attributeErrors(store, work, () => execution.write(store, markScopeChecked(work)))
      if (outcome.kind === 'record') execution.writtenSize.add(plan.projection, [outcome.row], [plan.changes])
      return { work, outcome, ...(await executeDiffs(diffs, { index: 0, plan, outcome }, execution)) }
    },
  )
}

/**
 * Plans all nested writes at any depth, so that scopes can be checked before the first write. A row that the request
 * writes must not bring another record into a scope. Returns an empty array if no scope has a condition.
 * @throws the Problems that the write would throw
 */
export async function planPendingWrites(
  store: StatementContext,
  diffs: readonly Diff[],
  execution: WorkExecution,
): Promise<readonly PendingWrite[]> {
  if (requestHistoryOf(store) === null) return []
  const storing: PendingWrite[] = []
  for (const diff of diffs) {
    for (const work of await diff.planPendingWrites())
      storing.push(work, ...(await planPendingWithin(store, work, execution)))
  }
  return storing
}

/** Plans the nested writes of an existing record. The work of a new record already contains its nested writes. */
async function planPendingWithin(
  { transaction }: StatementContext,
  { resource, plan, nestedWrites = [], places = [] }: PendingWrite,
  execution: WorkExecution,
): Promise<readonly PendingWrite[]> {
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  if (isNew || nestedWrites.length === 0 || transaction === undefined) return []
  const inside = { ...storeOf(resource), transaction }
  return executeInPlace({ place: places[0] ?? '' }, async () => {
    const values = await lockParent(inside, plan, nestedWrites)
    // A separate counter is used, because the execution counts the removals.
    const apart = { ...execution, removals: new RemovalCounter() }
    const [diffs = []] = await planDiffs(inside, [{ nestedWrites, values }], { ...apart, parentKeys: [plan.key] })
    assertVersions(diffs.flatMap(({ versionChecks }) => versionChecks))
    // The write rejects invalid values later, and reports all errors.
    const isInvalid = diffs.some(({ works, errors }) => works.some(hasWorkErrors) || hasErrors(errors))
    return isInvalid ? [] : planPendingWrites(inside, diffs, apart)
  })
}

/**
 * Plans the changes of several parents' children. The parents must be locked.
 * @throws Problem 404 or 400 with the positions of elements that name another parent's records
 * @throws Problem 403 if the caller may not make a change
 */
export async function planDiffs(
  store: StatementContext,
  parents: readonly ParentValues[],
  { removals, parentKeys }: Pick<WorkExecution, 'removals'> & { readonly parentKeys: readonly KeyValue[] },
): Promise<readonly (readonly Diff[])[]> {
  const replacements = parents.flatMap(({ nestedWrites, values }) =>
    nestedWrites.flatMap((nestedWrite, index) =>
      nestedWrite.kind === 'replaced' ? [[nestedWrite, values[index]] as const] : [],
    ),
  )
  const children = await diffChildren(store, replacements, { removals, parentKeys })
  // The answer to a key without a record also lists the errors of the children.
  const links = await withErrorsOfWorks(
    () => children.flatMap(({ works }) => works),
    () => collectErrors(parents, ({ nestedWrites, values }) => planLinkDiffs(store, nestedWrites, values)),
  )
  const byNestedWrite = new Map(children.map((diff) => [diff.nestedWrite, diff]))
  return parents.map(({ nestedWrites }, index) => [
    ...nestedWrites.flatMap((nestedWrite) => byNestedWrite.get(nestedWrite) ?? []),
    ...(links[index] ?? []),
  ])
}

async function planLinkDiffs(
  store: StatementContext,
  nestedWrites: readonly NestedWrite[],
  values: readonly unknown[],
): Promise<readonly Diff[]> {
  const linked = nestedWrites.flatMap((nestedWrite, index) => {
    if (nestedWrite.kind === 'new')
      throw internalError(
        `an existing record of ${store.resource.name} has the nested records of a new one in "${nestedWrite.json}"`,
      )
    return nestedWrite.kind === 'linked' ? [{ linkChange: nestedWrite, value: values[index] }] : []
  })
  return collectErrors(linked, ({ linkChange, value }) => diffLinks(store, linkChange, value))
}

/** A written record, and its index in the request. */
interface WrittenParent {
  readonly index: number
  readonly plan: UpdatePlan
  readonly outcome: Outcome
}

/** Executes the planned changes of one parent's children. */
export async function executeDiffs(
  diffs: readonly Diff[],
  { index, plan, outcome }: WrittenParent,
  execution: WorkExecution,
): Promise<Pick<WriteResult, 'nested' | 'parts'>> {
  const nested: NestedResult[] = []
  const parts: WrittenPart[] = []
  for (const diff of diffs) {
    const { json, binding } = diff.nestedWrite
    const [value] = referencedValuesOf({ plan }, outcome, binding)
    nested.push({ parentIndex: index, json, value: await diff.execute(value, execution, parts) })
  }
  return { nested, parts }
}

/** Locks a parent. Returns the key values that its children refer to, followed by the value for the precondition. */
function lockParent(store: StatementContext, plan: UpdatePlan, nestedWrites: readonly NestedWrite[]): Promise<Row> {
  const decides = plan.precondition?.field ?? store.resource.key
  return lockForWrite(store, plan, [...nestedWrites.map(({ binding }) => binding.source), decides])
}

function assertParentVersion({ precondition }: UpdatePlan, stored: unknown): void {
  if (precondition !== null && (precondition.where === null || !precondition.isMet(stored)))
    throw precondition.createError()
}
