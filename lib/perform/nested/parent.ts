import type { Outcome, Row } from '../../../types/outcome.js'
import type { KeyValue, UpdatePlan } from '../../../types/plan.js'
import type {
  ErrorsByPlace,
  LinkChange,
  NestedResult,
  NestedWrite,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { hasErrors, mergeErrors, refuse } from '../../common/bodyErrors.js'
import { internalError } from '../../common/internalError.js'
import { Problem } from '../../common/problem.js'
import { lockForWrite } from '../refusal.js'
import { requestHistoryOf } from '../scoped/requestHistory.js'
import { assertAllWithinScope, markScopeChecked } from '../scoped/scopeChecks.js'
import { type StatementContext, storeOf } from '../store.js'
import { diffChildren, executeInPlace } from './children.js'
import { assertVersions, type Diff, type PendingWrite, RemovalCounter, type WorkExecution } from './diff.js'
import { attributeErrors, errorsOfWorks, hasWorkErrors, withErrorsOfWorks } from './errors.js'
import { collectMissingKeys, nestedWritesOfNew } from './insert.js'
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
  const {
    diffs: [diffs = []],
    all,
  } = await planAllDiffs(store, [{ nestedWrites, values }], { ...execution, parentKeys: [plan.key] })
  assertParentVersion(plan, values.at(-1))
  assertVersions(all.flatMap(({ versionChecks }) => versionChecks))
  const works = [work, ...all.flatMap((diff) => diff.works)]
  const errors = mergeErrors(all.map((diff) => diff.errors))
  if (hasErrors(errors) || works.some(hasWorkErrors))
    refuse('validation', {
      ...(await errorsOfWorks(store, works)),
      ...errors,
      ...(await collectMissingKeys(store, nestedWritesOfNew(works))),
    })
  await assertAllWithinScope(store, [work, ...(await planPendingWrites(store, all))])
  assertNoConflict(all)
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
 * Plans the nested writes, so that scopes can be checked before the first write. A row that the request writes must not
 * bring another record into a scope. Returns an empty array if no scope has a condition.
 */
export async function planPendingWrites(
  store: StatementContext,
  all: readonly Diff[],
): Promise<readonly PendingWrite[]> {
  if (requestHistoryOf(store) === null) return []
  const storing: PendingWrite[] = []
  for (const diff of all) storing.push(...(await diff.planPendingWrites()))
  return storing
}

/** @throws Problem 409 if a link is in conflict with a link that the caller may not see */
export function assertNoConflict(all: readonly Diff[]): void {
  for (const { conflict } of all) if (conflict !== null) throw conflict
}

type PlanningContext = Pick<WorkExecution, 'removals'> & { readonly parentKeys: readonly KeyValue[] }

/** Planned changes of several parents' children, and of all nested records at any depth. */
interface PlannedDiffs {
  readonly diffs: readonly (readonly Diff[])[]
  readonly all: readonly Diff[]
}

/**
 * Plans the changes of several parents' children, and of the children's own children at any depth, so that all checks
 * run before the first write. The parents must be locked.
 * @throws Problem 404 with the positions of all elements that have no record or name another parent's record
 * @throws Problem 403 if the caller may not make a change
 */
export async function planAllDiffs(
  store: StatementContext,
  parents: readonly ParentValues[],
  context: PlanningContext,
): Promise<PlannedDiffs> {
  const missing: ErrorsByPlace[] = []
  const planned = await planDepths(store, parents, context, missing)
  refuse('not-found', mergeErrors(missing))
  for (const { denial } of planned.all) if (denial !== null) throw denial
  return planned
}

async function planDepths(
  store: StatementContext,
  parents: readonly ParentValues[],
  context: PlanningContext,
  missing: ErrorsByPlace[],
): Promise<PlannedDiffs> {
  const diffs = await planDiffs(store, parents, context)
  const own = diffs.flat()
  missing.push(...own.map((diff) => diff.missing))
  const inside: Diff[] = []
  for (const work of own.flatMap(({ works }) => works)) inside.push(...(await planInside(store, work, missing)))
  return { diffs, all: [...own, ...inside] }
}

/** Plans the nested writes of an existing child. The work of a new child already contains its nested writes. */
async function planInside(
  { transaction }: StatementContext,
  { resource, plan, nestedWrites = [], places = [] }: Work,
  missing: ErrorsByPlace[],
): Promise<readonly Diff[]> {
  if (plan.kind !== 'update' || nestedWrites.length === 0 || transaction === undefined) return []
  const store = { ...storeOf(resource), transaction }
  try {
    return await executeInPlace({ place: places[0] ?? '' }, async () => {
      const values = await lockParent(store, plan, nestedWrites)
      // A separate counter is used, because the execution counts the removals.
      const context = { removals: new RemovalCounter(), parentKeys: [plan.key] }
      return (await planDepths(store, [{ nestedWrites, values }], context, missing)).all
    })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not-found' || error.errors === undefined) throw error
    missing.push(error.errors)
    return []
  }
}

/** Plans the changes of several parents' children. @throws Problem 403 if the caller may not make a change */
async function planDiffs(
  store: StatementContext,
  parents: readonly ParentValues[],
  context: PlanningContext,
): Promise<readonly (readonly Diff[])[]> {
  const replacements = parents.flatMap(({ nestedWrites, values }) =>
    nestedWrites.flatMap((nestedWrite, index) =>
      nestedWrite.kind === 'replaced' ? [[nestedWrite, values[index]] as const] : [],
    ),
  )
  const children = await diffChildren(store, replacements, context)
  const byNestedWrite = new Map(children.map((diff) => [diff.nestedWrite, diff]))
  const all: (readonly Diff[])[] = []
  for (const { nestedWrites, values } of parents)
    all.push([
      ...nestedWrites.flatMap((nestedWrite) => byNestedWrite.get(nestedWrite) ?? []),
      ...(await planLinkDiffs(store, nestedWrites, values)),
    ])
  return all
}

async function planLinkDiffs(
  store: StatementContext,
  nestedWrites: readonly NestedWrite[],
  values: readonly unknown[],
): Promise<readonly Diff[]> {
  const diffs: Diff[] = []
  for (const [index, nestedWrite] of nestedWrites.entries()) {
    if (nestedWrite.kind === 'new')
      throw internalError(
        `an existing record of ${store.resource.name} has the nested records of a new one in "${nestedWrite.json}"`,
      )
    if (nestedWrite.kind === 'linked') diffs.push(await planLinkDiff(store, nestedWrite, values[index]))
  }
  return diffs
}

/**
 * Plans the changes of an existing record's links. Keys without a record and conflicts are returned, because other
 * errors of the request are reported before them, or together with them.
 */
async function planLinkDiff(store: StatementContext, linkChange: LinkChange, value: unknown): Promise<Diff> {
  try {
    return await diffLinks(store, linkChange, value)
  } catch (error) {
    if (!(error instanceof Problem) || (error.code !== 'validation' && error.code !== 'conflict')) throw error
    const isConflict = error.code === 'conflict'
    return {
      nestedWrite: linkChange,
      missing: {},
      denial: null,
      errors: isConflict ? {} : (error.errors ?? {}),
      conflict: isConflict ? error : null,
      works: [],
      planPendingWrites: () => Promise.resolve([]),
      versionChecks: [],
      execute: () => Promise.reject(error),
    }
  }
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
