import type { Model } from 'sequelize'
import type { Outcome, WrittenRecord } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Precondition, UpdatePlan } from '../../types/plan.js'
import type { Work } from '../../types/work.js'
import { BodyErrors, hasErrors, refuse } from '../common/bodyErrors.js'
import { splitIntoChunks } from '../common/chunks.js'
import { internalError } from '../common/internalError.js'
import { matchKeys } from '../common/keys.js'
import { maxRecordsOf } from '../common/largeColumns.js'
import type { ProblemErrors } from '../common/problem.js'
import { WrittenSize } from '../common/responseSize.js'
import { buildInstance } from './build.js'
import { applyChanges, loadAllLocked } from './instances/load.js'
import { assertVersions, type VersionCheck } from './nested/diff.js'
import { attributeToPlace } from './nested/errors.js'
import { keyIdentityText } from './recordIdentity.js'
import { assertAllWithinScope } from './scoped/scopeChecks.js'
import { refreshParts } from './staleRows.js'
import type { StatementContext } from './store.js'
import { buildPartial, collectValueErrors, hasUncheckedChanges, hasUncheckedValues, NO_ERRORS } from './validation.js'
import { WriteSequence } from './writeSequence.js'

/** One write of a batch. */
export type ItemPlan = CreatePlan | UpdatePlan

export type ItemWriter = (store: StatementContext, item: ItemPlan) => Promise<Outcome>

/** Runs several writes as one statement. Returns null if the writes must run one by one. */
export type ItemsWriter = (store: StatementContext, items: readonly ItemPlan[]) => Promise<readonly Outcome[] | null>

/** Stored versions for the preconditions of updates. The versions are read under the transaction's locks. */
export type StoredVersions = ReadonlyMap<ItemPlan, unknown>

/** Nested children of a batch's items. Children and items are written in one transaction. */
export interface ItemsChildren {
  /** Counts the bytes of the response, and throws a Problem above the limit. */
  readonly writtenSize: WrittenSize
  /** Plans the inserts, updates and deletes of the children. @throws Problem 404 or 403 */
  readonly planDiffs: (store: StatementContext, items: readonly ItemPlan[]) => Promise<void>
  readonly versions: () => readonly VersionCheck[]
  /** Plans the children's writes before the first write, so that scopes can be checked. */
  readonly planPendingWrites: (
    store: StatementContext,
  ) => Promise<readonly Work<CreatePlan | BulkCreatePlan | UpdatePlan>[]>
  /** @throws Problem 409 if a link is in conflict with a link that the caller may not see */
  readonly assertNoConflict: () => void
  /**
   * Returns the validation errors of the children. Validates the children only if the request fails anyway: if
   * `isRefused` is true, or if planning has found an error.
   */
  readonly collectErrors: (store: StatementContext, isRefused: boolean) => Promise<ProblemErrors>
  /** Writes the children of an item that is already written. */
  readonly writeChildren: (store: StatementContext, index: number, item: ItemPlan, outcome: Outcome) => Promise<void>
}

/**
 * Runs all writes or none. The store must be in a transaction. Before the first write all versions and bodies are
 * checked, and errors are collected for all items.
 * @throws Problem 428, 412 or 400 with the items' positions
 * @throws Problem 400 if the records exceed the response limit
 */
export async function writeItems(
  store: StatementContext,
  { items, stored }: { readonly items: readonly ItemPlan[]; readonly stored: StoredVersions },
  write: ItemWriter,
  children: ItemsChildren | null,
  together: ItemsWriter | null = null,
): Promise<Outcome> {
  await children?.planDiffs(store, items)
  assertVersions([...versionChecksOf(store, items, stored), ...(children?.versions() ?? [])])
  const errors = await collectItemErrors(store, items)
  refuse('validation', { ...errors, ...(await children?.collectErrors(store, hasErrors(errors))) })
  await assertItemsWithinScope(store, items, children)
  children?.assertNoConflict()
  const parts: WrittenRecord[] = []
  const sequence = new WriteSequence()
  const size = children?.writtenSize ?? new WrittenSize(store.resource.limits.responseBytes)
  const isMany = items.some(
    ({ kind, projection: { columns } }) => kind !== 'create' && items.length > maxRecordsOf(columns),
  )
  const outcomes = together === null || isMany ? null : await together(store, items)
  for (const [index, plan] of items.entries()) {
    const outcome =
      outcomes?.[index] ?? (await attributeToPlace(store, index, plan, () => write(store, markItemChecked(plan))))
    if (outcome.kind !== 'record') throw internalError(`the write of one record has a result of kind "${outcome.kind}"`)
    // `add` throws if the response would be too large, which rolls back the transaction.
    size.add(plan.projection, [outcome.row], [plan.changes])
    sequence.noteWrite(store, plan, outcome)
    await children?.writeChildren(store, index, plan, outcome)
    parts.push({ plan, outcome })
  }
  // The execution of nested writes refreshes all records of the request at its end.
  return { kind: 'parts', parts: children === null ? await refreshParts(store, parts, sequence) : parts }
}

/** Marks an item whose scope condition is already checked. */
function markItemChecked(item: ItemPlan): ItemPlan {
  return item.scope === undefined ? item : { ...item, isScopeChecked: true }
}

/**
 * Checks before the first write that the caller's scope admits all items.
 * @throws Problem 403 with the positions of the rejected items
 */
async function assertItemsWithinScope(
  store: StatementContext,
  items: readonly ItemPlan[],
  children: ItemsChildren | null,
): Promise<void> {
  const works = items.map((plan, index): Work<ItemPlan> => {
    return { resource: store.resource, plan, foreignKeyChecks: [], places: [`[${index}]`] }
  })
  await assertAllWithinScope(store, [...works, ...((await children?.planPendingWrites(store)) ?? [])])
}

function versionChecksOf(
  { resource }: StatementContext,
  items: readonly ItemPlan[],
  stored: StoredVersions,
): readonly VersionCheck[] {
  return items.flatMap((item, index) => {
    const precondition = preconditionOf(item)
    return precondition === null ? [] : [{ resource, place: `[${index}]`, precondition, stored: stored.get(item) }]
  })
}

export function preconditionOf(item: ItemPlan): Precondition | null {
  return item.kind === 'create' ? null : item.precondition
}

/** Whether rules have accepted all values of an item, so that no validator of the model can refuse it. */
function isAccepted(store: StatementContext, item: ItemPlan): boolean {
  if (item.invalid !== null || store.resource.validation !== 'attributes') return false
  if (item.kind === 'create')
    return !hasUncheckedValues(store, buildInstance(store, item.changes, item.serverValues), item)
  return !hasUncheckedChanges(store, item)
}

async function collectItemErrors(store: StatementContext, items: readonly ItemPlan[]): Promise<ProblemErrors> {
  if (items.every((item) => isAccepted(store, item))) return {}
  const errors = new BodyErrors()
  let at = 0
  for (const part of splitIntoChunks(items, store.resource.maxInstances)) {
    const makerOf = await createInstanceMakers(store, part)
    for (const item of part) {
      const index = at++
      const round = { hasHostCode: item.before !== null }
      errors.add(await collectValueErrors(store, item.invalid ?? NO_ERRORS, makerOf(item), round), `[${index}].`)
    }
  }
  return errors.all
}

/** Returns a function that builds the instances of an item for the model's validators. */
async function createInstanceMakers(
  store: StatementContext,
  items: readonly ItemPlan[],
): Promise<(item: ItemPlan) => () => Model> {
  const { keys: fields, validation } = store.resource
  const isPartial = validation === 'attributes'
  const keys = items.flatMap((item) => (item.kind === 'create' ? [] : [item.key]))
  const loaded =
    isPartial || keys.length === 0 ? new Map<string, Model>() : await loadAllLocked(store, matchKeys(fields, keys))
  return (item) => () => {
    if (item.kind === 'create') return buildInstance(store, item.changes, item.serverValues)
    const instance = loaded.get(keyIdentityText(fields, item.key))
    return instance === undefined
      ? buildPartial(store, item)
      : applyChanges(store, instance, item.changes, item.serverValues)
  }
}
