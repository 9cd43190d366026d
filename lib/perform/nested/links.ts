import type { Row } from '../../../types/outcome.js'
import type { GetPlan, KeyValue, Plan, Predicate, UpdatePlan } from '../../../types/plan.js'
import type {
  BindingValues,
  BodyKey,
  CommitOrder,
  ErrorsByPlace,
  LinkChange,
  LinkedKeys,
  LinkTarget,
  NestedResult,
  PlannedPart,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { errorsAt, mergeErrors, refuse } from '../../common/bodyErrors.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { projectOwnFields } from '../../common/columns.js'
import { matchChildren } from '../../common/foreignKeyBinding.js'
import { internalError } from '../../common/internalError.js'
import { keyText, planKeyJson } from '../../common/keys.js'
import { addCondition, hasSubquery } from '../../common/predicates.js'
import { Problem, problem } from '../../common/problem.js'
import { isUniqueConflict, isWholeUniqueConflict } from '../failure.js'
import { readRecord } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { lockForWrite } from '../refusal.js'
import { assertRecordsMeet, type RecordPlaces } from '../scoped/readBack.js'
import { findOutOfScope, outOfScopeProblem } from '../scoped/scopeChecks.js'
import { noteStateBefore } from '../scoped/trackedRecords.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { markRaced } from '../transaction.js'
import { lockUniqueValues } from '../uniqueLocks.js'
import { contentionProblem } from '../writeTimeout.js'
import { type Diff, executePlanned, limitPlan, type PendingWrite, type WorkWriter } from './diff.js'
import { collectBodyKeyErrors, isEqualToStored } from './equality.js'
import { hasWorkErrors } from './errors.js'
import {
  findLinkedRecords,
  isSerialized,
  type JoinRowPages,
  type LinkedRecord,
  matchForeignKey,
  NO_PAGES,
  type RestoredLink,
  readJoinRows,
  separateRestored,
  splitJoinRows,
} from './joinRows.js'
import { storedValueText } from './linkTargets.js'
import { addParentKeys, bindingValuesOf } from './parentKeys.js'
import { assertRemoved } from './removals.js'

/** Planned changes of one parent's links. */
export interface LinkDiff {
  readonly linkChange: LinkChange
  /** Statement context of the join model. */
  readonly store: StatementContext
  readonly created: readonly LinkedRecord[]
  readonly restored: readonly RestoredLink[]
  /** Links to remove, in pages. A page is read after the previous page is deleted. */
  readonly removed: JoinRowPages
  /** Existing join rows whose own fields the request changes. */
  readonly changed: readonly { readonly linkTarget: LinkTarget; readonly row: Row }[]
  /** Number of new links. */
  readonly linkedCount: number
  /** Errors of foreign keys in bodies that differ from the link's foreign keys. */
  readonly errors: ErrorsByPlace
}

/** Changes only the links of a record. The store must be in a transaction. */
export async function executeLinkChange(
  store: StatementContext,
  work: Work<GetPlan>,
  write: WorkWriter,
): Promise<WriteResult> {
  const [linkChange] = work.nestedWrites ?? []
  if (linkChange?.kind !== 'linked')
    throw internalError(`a request to link records to ${work.resource.name} contains no links`)
  const row = await lockParentKey(store, work, linkChange)
  const [value] = row
  if (!isSerialized(linkChange)) await lockLinks(store, linkChange, value)
  const relinking = await planLinkDiff(store, linkChange, value, linkChange.groups[0] ?? [])
  refuse('validation', { ...linkChange.errors, ...relinking.errors })
  const parts: WrittenPart[] = []
  const { unlinked, remaining } = await writeLinkDiff(relinking, value, write, parts)
  if (linkChange.mode === 'remove' && remaining > 0) throw problem('not-found')
  const links = { linked: relinking.linkedCount, unlinked }
  return { work, outcome: { kind: 'record', row }, nested: [], parts, linkCounts: links }
}

/** Locks the links of a parent that is not locked, because other requests may add them in another order. */
async function lockLinks(
  store: StatementContext,
  { joinModelResource, binding, key, groups }: LinkChange,
  value: unknown,
): Promise<void> {
  const pairs = (groups[0] ?? []).map(
    (target) =>
      new Map([
        [binding.key.name, value],
        [key.name, target.key],
      ]),
  )
  await lockUniqueValues(storeInSameTransaction(store, joinModelResource), pairs)
}

/**
 * Reads the parent's key that join rows refer to. Locks the parent if links are serialized.
 * @throws Problem 404 if the parent is missing
 */
async function lockParentKey(store: StatementContext, { plan }: Work<GetPlan>, linkChange: LinkChange): Promise<Row> {
  const { binding, key, isUnique, groups } = linkChange
  const readParent = async (): Promise<Row> => {
    const row = await readRecord(store, { where: plan.where, projection: projectOwnFields([binding.source]) })
    if (row === null) throw problem('not-found')
    return row
  }
  if (!isSerialized(linkChange)) return readParent()
  // If both sides are locked, the names of the foreign keys determine the order of the locks. A fixed order avoids
  // deadlocks.
  if (!isUnique && binding.key.name > key.name) {
    await readParent()
    await findLinkedRecords(store, linkChange, groups[0] ?? [])
  }
  return lockForWrite(store, plan, [binding.source])
}

/** Plans the changes of an existing record's links. */
export async function diffLinks(parentStore: StatementContext, linkChange: LinkChange, own: unknown): Promise<Diff> {
  const targets = linkChange.groups[0] ?? []
  const relinking = await planLinkDiff(parentStore, linkChange, own, targets)
  if (parentStore.commitOrder !== undefined) await noteStates(relinking, parentStore.commitOrder)
  return {
    nestedWrite: linkChange,
    missing: {},
    denial: null,
    errors: relinking.errors,
    conflict: null,
    works: [],
    planPendingWrites: () => planNewLinks(relinking, own),
    versionChecks: [],
    execute: async (value, { write }, parts) => {
      const { source } = linkChange.binding
      // The write of the parent may have changed the value that links refer to, and the database may have changed links.
      const isMoved = storedValueText(source, value) !== storedValueText(source, own)
      const current = isMoved ? await planLinkDiff(parentStore, linkChange, value, targets) : relinking
      await writeLinkDiff(current, value, write, parts)
      return linkedKeysOf(linkChange, targets)
    },
  }
}

/** Notes the state of the removed links for push. The write of their owner may move them into or out of scopes. */
async function noteStates({ linkChange, store, removed }: LinkDiff, order: CommitOrder): Promise<void> {
  if (store.resource.behaviours.selectTracking === null) return
  for (const rows of splitIntoChunks([...removed.first.values()].flat())) {
    const { work } = await linkChange.remove(keysOfRows(linkChange, rows))
    await noteStateBefore({ ...store, commitOrder: order }, work.plan)
  }
}

/**
 * Plans the join rows to insert for an existing parent. Omits invalid join rows, because the write reports their
 * errors.
 */
async function planNewLinks({ linkChange, created }: LinkDiff, own: unknown): Promise<readonly PendingWrite[]> {
  if (created.length === 0) return []
  const { work } = await linkChange.create(created.map(({ linkTarget }) => linkTarget))
  const bindingValues = created.map(({ value }) => joinRowValues(linkChange, own, value))
  if (hasWorkErrors(work)) return []
  const { parentKeys: _, ...plan } = addParentKeys(work, bindingValues)
  return [{ ...work, plan }]
}

/** Returns the values of a join row's foreign keys. */
function joinRowValues({ binding, key }: LinkChange, parentKey: unknown, value: unknown): BindingValues[number] {
  return new Map([
    ...bindingValuesOf(binding, parentKey),
    ...bindingValuesOf({ ...binding, key, fixed: new Map() }, value),
  ])
}

/**
 * Plans the changes of a parent's links. The parent must be locked if links are serialized.
 * @throws Problem 404 or 400 for records that the caller may not see, 409 for links that the caller may not create
 */
export async function planLinkDiff(
  parentStore: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  all: readonly LinkTarget[],
): Promise<LinkDiff> {
  const { mode, joinModelResource } = linkChange
  const store = storeInSameTransaction(parentStore, joinModelResource)
  const pairs = await findLinkedRecords(parentStore, linkChange, all)
  const { found, others } =
    mode === 'set'
      ? await splitJoinRows(parentStore, linkChange, value, pairs)
      : { found: await readJoinRows(store, linkChange, value, pairs), others: NO_PAGES }
  if (mode === 'remove' && found.size < pairs.size) throw problem('not-found')
  const added = [...pairs].filter(([name]) => !found.has(name)).map(([, pair]) => pair)
  const { created, revived } = await separateRestored(store, linkChange, value, added)
  const changed = [...pairs].flatMap(([name, { linkTarget }]): LinkDiff['changed'] => {
    const row = found.get(name)?.[0]
    if (row === undefined || !hasRowChanges(linkChange, linkTarget)) return []
    return [{ linkTarget, row }]
  })
  return {
    linkChange,
    store,
    created,
    restored: revived,
    removed: mode === 'remove' ? { ...NO_PAGES, first: found } : others,
    changed,
    linkedCount: added.length,
    errors: await collectLinkKeyErrors(parentStore, linkChange, value, [...pairs.values()]),
  }
}

/** Returns the errors of foreign keys in link bodies that differ from the link's foreign keys. */
async function collectLinkKeyErrors(
  parentStore: StatementContext,
  { joinModelResource, binding, target, resource }: LinkChange,
  value: unknown,
  pairs: readonly LinkedRecord[],
): Promise<ErrorsByPlace> {
  const errors: ErrorsByPlace[] = []
  for (const { linkTarget, value: referencedValue } of pairs) {
    const isEqualKey = ({ end, value: stated }: BodyKey): Promise<boolean> =>
      end === 'owner'
        ? isEqualToStored(parentStore, binding.source, value, stated)
        : isEqualToStored(storeInSameTransaction(parentStore, resource), target, referencedValue, stated)
    errors.push(await collectBodyKeyErrors(joinModelResource, linkTarget.bodyKeys ?? [], isEqualKey))
  }
  return mergeErrors(errors)
}

export function keysOfRows({ joinModelResource }: LinkChange, rows: readonly Row[]): readonly KeyValue[] {
  return rows.map((row) => keyText(joinModelResource.keys, row))
}

function matchJoinRows({ joinModelResource: { keys } }: LinkChange, rows: readonly Row[]): Predicate | null {
  if (!keys.some(({ valueType: { type } }) => type === 'uuid')) return null
  return buildIdentityPredicate(keys, rows)
}

/** Whether a link's body has fields other than the key and the version. */
function hasRowChanges({ joinModelResource }: LinkChange, { body }: LinkTarget): boolean {
  const names = new Set(
    joinModelResource.fields
      .filter(({ name, isKey }) => isKey || name === joinModelResource.version)
      .map(({ json }) => json),
  )
  return Object.keys(body ?? {}).some((name) => !names.has(name))
}

/** Executes the planned write of join rows. */
type PlanWriter = (planned: PlannedPart<Plan>) => Promise<WriteResult>

/** Executes the planned changes. Deletes run first, because they free unique values. */
async function writeLinkDiff(
  relinking: LinkDiff,
  value: unknown,
  write: WorkWriter,
  parts: WrittenPart[],
): Promise<RemovalResult> {
  const { linkChange, store, restored, created, changed } = relinking
  const writePlanned: PlanWriter = (planned) => executePlanned(store, planned, write, parts)
  const removed = await removeLinks(relinking, value, writePlanned)
  for (const { planned, target: linkTarget, row } of restored) {
    await writePlanned(planned)
    if (hasRowChanges(linkChange, linkTarget))
      await writePlanned(omitVersion(await planRowUpdate(linkChange, linkTarget, row)))
  }
  await insertLinks(
    linkChange,
    created.map((pair) => ({ ...pair, parentKey: value })),
    writePlanned,
    store,
  )
  for (const { linkTarget, row } of changed) {
    const planned = await planRowUpdate(linkChange, linkTarget, row)
    assertVersion(planned, row[linkChange.joinModelResource.keys.length + 1])
    // Another request has removed the link meanwhile. The next attempt creates the link.
    await writePlanned(planned).catch((error: unknown) => {
      throw error instanceof Problem && error.code === 'not-found' ? markRaced(error) : error
    })
  }
  const at = linkChange.joinModelResource.keys.length
  await assertTargetsInScope(
    linkChange,
    store,
    new Map([
      ...removed.rows.map((row): [unknown, null] => [row[at], null]),
      ...restored.map(({ row, target }): [unknown, string] => [row[at], target.place]),
      ...created.map(({ value: target, linkTarget }): [unknown, string] => [target, linkTarget.place]),
    ]),
  )
  return removed
}

/**
 * Checks that changed links do not move linked records out of the caller's scope.
 * @throws Problem 403 with the positions of the records
 */
async function assertTargetsInScope(linkChange: LinkChange, store: StatementContext, all: RecordPlaces): Promise<void> {
  const { targetCondition, target, resource } = linkChange
  if (!hasSubquery(targetCondition)) return
  for (const some of splitIntoChunks([...all])) {
    const values = some.map(([value]) => value)
    await assertRecordsMeet(
      storeInSameTransaction(store, resource),
      target,
      addCondition(matchForeignKey(target, values), targetCondition),
      new Map(some),
    )
  }
}

export async function planRowUpdate(
  linkChange: LinkChange,
  linkTarget: LinkTarget,
  row: Row,
): Promise<PlannedPart<UpdatePlan>> {
  const planned = await linkChange.update(linkTarget, keyText(linkChange.joinModelResource.keys, row))
  return limitPlan(planned, matchJoinRows(linkChange, [row]))
}

interface RemovalResult {
  /** Number of removed links. */
  readonly unlinked: number
  /** Number of rows that were not deleted, or that another request deleted first. */
  readonly remaining: number
  /** The removed rows, if the scope of their linked records must be checked again. */
  readonly rows: readonly Row[]
}

/**
 * Deletes join rows in chunks.
 * @throws Problem 404 if a body of the parent removes a link that the caller may see, but not delete
 */
async function removeLinks(
  { linkChange, store, removed }: LinkDiff,
  value: unknown,
  written: PlanWriter,
): Promise<RemovalResult> {
  const { binding, joinRowCondition, place } = linkChange
  // Records that are no longer linked. Several join rows may link one record to the parent.
  const undone = new Set<string>()
  let count = 0
  let remaining = 0
  const gone: Row[] = []
  for (let page: JoinRowPages | null = removed; page !== null; page = page.next === null ? null : await page.next()) {
    for (const rows of splitIntoChunks([...page.first.values()].flat())) {
      const { outcome } = await written(
        limitPlan(
          await linkChange.remove(keysOfRows(linkChange, rows)),
          addCondition(matchJoinRows(linkChange, rows), page.bounds),
        ),
      )
      // The routes of links answer with counts, which omit links that are kept.
      if (place !== undefined) {
        const where = addCondition(matchChildren(binding, value), joinRowCondition)
        await assertRemoved(store, { rows, where, outcome, place })
      }
      if (hasSubquery(linkChange.targetCondition)) gone.push(...rows)
      remaining += rows.length - (outcome.kind === 'deleted' ? outcome.count : 0)
    }
    if (linkChange.isUnique) count += page.first.size
    else for (const name of page.first.keys()) undone.add(name)
  }
  return { unlinked: Math.max(0, count + undone.size - remaining), remaining, rows: gone }
}

/** Removes the precondition from the update of a restored row, because no client has seen the row's current version. */
function omitVersion(planned: Awaited<ReturnType<LinkChange['update']>>): typeof planned {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, precondition: null } } }
}

function assertVersion({ work: { plan } }: Awaited<ReturnType<LinkChange['update']>>, stored: unknown): void {
  const { precondition } = plan
  if (precondition === null) return
  const name = precondition.field.json
  if (precondition.where === null) {
    throw problem('precondition-required', {
      detail: `Send the version of the link that you last read, as "${name}".`,
    })
  }
  if (precondition.isMet(stored)) return
  throw problem('precondition-failed', {
    detail: `The link has changed. Read it again and send its current version as "${name}".`,
  })
}

/** Link to create, with the parent's key value. */
interface NewLink extends LinkedRecord {
  readonly parentKey: unknown
}

/** Maximum number of attempts to create a link while other requests create and remove the link. */
const LINK_ATTEMPTS = 12

/** Inserts join rows. If another request has inserted one of the rows, the repeated write finds that row. */
async function insertLinks(
  linkChange: LinkChange,
  links: readonly NewLink[],
  write: PlanWriter,
  store: StatementContext,
): Promise<void> {
  if (links.length === 0) return
  const { joinModelResource, binding, key } = linkChange
  const bindingValues = links.map(({ parentKey, value }) => joinRowValues(linkChange, parentKey, value))
  const { work, caller } = await linkChange.create(links.map(({ linkTarget }) => linkTarget))
  const plan = addParentKeys(work, bindingValues)
  const { parentKeys: _, ...known } = plan
  // The write reports the errors of invalid join rows, which come before refusals.
  const failing = hasWorkErrors(work) ? [] : await findOutOfScope(store, [known])
  if (failing.length > 0)
    throw outOfScopeProblem(
      errorsAt(
        joinModelResource,
        failing.flatMap((at) => links[at]?.linkTarget.place || []),
        'scope',
      ),
    )
  try {
    await write({ caller, work: { ...work, plan } })
  } catch (error) {
    // The next attempt either finds the link or can create it.
    if (isWholeUniqueConflict(error, joinModelResource, [binding.key, key]))
      throw markRaced(contentionProblem(error), LINK_ATTEMPTS)
    throw isUniqueConflict(error, joinModelResource, [binding.key, key, ...binding.fixed.keys()])
      ? markRaced(error)
      : error
  }
}

/** Links records to new parents, which cannot have links yet. */
export async function linkNewParents(
  parentStore: StatementContext,
  linkChange: LinkChange,
  values: readonly unknown[],
  write: WorkWriter,
  parts: WrittenPart[],
): Promise<readonly NestedResult[]> {
  const store = storeInSameTransaction(parentStore, linkChange.joinModelResource)
  const known = await findLinkedRecords(parentStore, linkChange, linkTargetsOf(linkChange))
  const keys = new Map([...known.values()].map(({ linkTarget, value }) => [linkTarget.key, value]))
  const links = linkChange.groups.flatMap((group, index) =>
    distinctTargets(group ?? []).map((linkTarget) => ({
      linkTarget,
      value: keys.get(linkTarget.key),
      parentKey: values[index],
    })),
  )
  await insertLinks(linkChange, links, (planned) => executePlanned(store, planned, write, parts), store)
  await assertTargetsInScope(
    linkChange,
    store,
    new Map(links.map(({ value, linkTarget }) => [value, linkTarget.place])),
  )
  return linkChange.groups.flatMap((group, index): NestedResult[] =>
    group === undefined ? [] : [{ parentIndex: index, json: linkChange.json, value: linkedKeysOf(linkChange, group) }],
  )
}

/** Returns the records that the request links to any parent. */
export function linkTargetsOf({ groups }: LinkChange): readonly LinkTarget[] {
  return groups.flatMap((group) => group ?? [])
}

function distinctTargets(group: readonly LinkTarget[]): readonly LinkTarget[] {
  return [...new Map(group.map((linkTarget) => [linkTarget.key, linkTarget])).values()]
}

/** Returns the keys of a body's linked records, without duplicates, in the order of the body. */
function linkedKeysOf({ resource }: LinkChange, group: readonly LinkTarget[]): LinkedKeys {
  return { keys: distinctTargets(group).map(({ key }) => planKeyJson(resource.keys, key)) }
}
