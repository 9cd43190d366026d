import type { Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, KeyValue } from '../../../types/plan.js'
import type {
  BodyElement,
  ChildReplacement,
  ErrorsByPlace,
  ResultRecord,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { errorsAt, mergeErrors, refuse } from '../../common/bodyErrors.js'
import { NO_PERMISSION } from '../../common/denials.js'
import { matchChildren } from '../../common/foreignKeyBinding.js'
import {
  encodeKey,
  type KeyFields,
  keyColumns,
  keyOfRow,
  keyText,
  matchKeys,
  planKeyParts,
  planKeyText,
} from '../../common/keys.js'
import { addCondition } from '../../common/predicates.js'
import { isRefusal, Problem } from '../../common/problem.js'
import { isSizeError } from '../../common/responseSize.js'
import { readLocked, readVisible, readWrittenByKey } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { markScopeChecked, newWorksIn } from '../scoped/scopeChecks.js'
import { noteStateBefore } from '../scoped/trackedRecords.js'
import type { StatementContext } from '../store.js'
import { maxRowsOf } from '../uuidSpellings.js'
import {
  type Diff,
  executePlanned,
  limitPlan,
  type RemovalCounter,
  type WorkExecution,
  type WorkWriter,
} from './diff.js'
import { collectBodyKeyErrors, isEqualToStored } from './equality.js'
import { storedValueText } from './linkTargets.js'
import { addParentKeys, bindingValuesOf, storeOfWork } from './parentKeys.js'
import { assertRemoved } from './removals.js'

/** Stored children of one parent, matched with the elements of the body. */
interface MatchedChildren {
  readonly replacement: ChildReplacement
  readonly store: StatementContext
  /** Value of the parent's key that the children's foreign keys refer to. */
  readonly parentKey: unknown
  /** Stored children by key text. Each row has the key parts, followed by the version. */
  readonly stored: ReadonlyMap<string, Row>
  readonly keys: ReadonlyMap<BodyElement, KeyValue>
  readonly newElements: readonly BodyElement[]
  /** Elements whose key is unknown or belongs to a child of another parent. */
  readonly unknownElements: readonly BodyElement[]
  /** Errors of elements whose foreign key names another parent. */
  readonly errors: ErrorsByPlace
}

/** Nested elements of a relation, and the parent's key value. */
export type ParentReplacement = readonly [branch: ChildReplacement, value: unknown]

/**
 * Plans the inserts, updates and deletes for the nested elements of one or several bodies. If an element has no record,
 * no deletion is planned, because the request fails.
 * @throws Problem 403 if the caller may not make a change
 */
export async function diffChildren(
  parentStore: StatementContext,
  holdings: readonly ParentReplacement[],
  { removals, parentKeys }: { readonly removals: RemovalCounter; readonly parentKeys: readonly KeyValue[] },
): Promise<readonly Diff[]> {
  const all: MatchedChildren[] = []
  for (const [replacement, value] of holdings) all.push(await loadMatchedChildren(parentStore, replacement, value))
  const isComplete = all.every(({ unknownElements }) => unknownElements.length === 0)
  const diffs: Diff[] = []
  for (const found of all) {
    const contested = errorsAt(found.replacement.resource, placesOf(findContested(found, all)), 'removed')
    const errors = mergeErrors([found.errors, contested, findRemovedParents(found, parentStore, parentKeys)])
    diffs.push(await planDiff({ ...found, errors }, isComplete ? findRemoved(found) : NONE_REMOVED, removals))
  }
  return diffs
}

const NONE_REMOVED: ReadonlyMap<string, Row> = new Map()

function placesOf(elements: readonly BodyElement[]): readonly string[] {
  return elements.map(({ place }) => place)
}

async function loadMatchedChildren(
  parentStore: StatementContext,
  replacement: ChildReplacement,
  value: unknown,
): Promise<MatchedChildren> {
  const store = storeOfWork(parentStore, replacement)
  const { resource, elements, many: isMany, binding } = replacement
  const stored = await readChildren(store, replacement, value)
  const { keys: fields } = resource
  const [only] = stored.keys()
  const rowOf = createRowFinder(stored, replacement)
  const keys = new Map<BodyElement, KeyValue>()
  const created: BodyElement[] = []
  const unknown: BodyElement[] = []
  const named = new Map<BodyElement, KeyValue>()
  const parentKey = binding.source.decode(value) ?? null
  for (const element of elements) {
    const key = element.keyOf(parentKey)
    if (key !== null && key !== undefined) named.set(element, key)
    if (key === null && !isMany && only !== undefined) keys.set(element, keyOfReadRow(fields, stored.get(only)))
    else if (key === null) created.push(element)
    else {
      const row = key === undefined ? undefined : rowOf(key)
      if (row === undefined) unknown.push(element)
      else keys.set(element, keyOfReadRow(fields, row))
    }
  }
  const added = await findNewElements(store, replacement, named, unknown)
  const strangers = unknown.filter((element) => !added.includes(element))
  const errors = await collectParentKeyErrors(parentStore, replacement, value)
  return {
    replacement,
    store,
    parentKey: value,
    stored,
    keys,
    newElements: [...created, ...added],
    unknownElements: strangers,
    errors,
  }
}

/** Returns the errors of elements whose foreign key names another parent. Each distinct value is compared only once. */
function collectParentKeyErrors(
  parentStore: StatementContext,
  { elements, resource, binding: { source } }: ChildReplacement,
  value: unknown,
): Promise<ErrorsByPlace> {
  const known = new Map<unknown, Promise<boolean>>()
  return collectBodyKeyErrors(
    resource,
    elements.flatMap(({ bodyKeys }) => bodyKeys),
    ({ value: stated }) => {
      const isEqual = known.get(stated) ?? isEqualToStored(parentStore, source, value, stated)
      known.set(stated, isEqual)
      return isEqual
    },
  )
}

/**
 * Returns a function that finds the stored row of an element's key. All rows belong to one parent, so the foreign key
 * part of a key is not compared.
 */
function createRowFinder(
  stored: MatchedChildren['stored'],
  { resource: { keys }, binding }: ChildReplacement,
): (key: KeyValue) => Row | undefined {
  if (keys.length === 1 || !keys.includes(binding.key)) return (key) => stored.get(planKeyText(keys, key))
  const keyTextOf = (parts: readonly unknown[]): string =>
    JSON.stringify(parts.filter((_, index) => keys[index] !== binding.key))
  const rows = new Map(
    [...stored.values()].map((row) => [keyTextOf(keys.map(({ decode }, index) => decode(row[index]))), row]),
  )
  return (key) => rows.get(keyTextOf(planKeyParts(keys, key)))
}

/** Returns the stored children that the body omits, by key text. */
function findRemoved({ replacement, stored, keys }: MatchedChildren): ReadonlyMap<string, Row> {
  const fields = replacement.resource.keys
  const mentioned = new Set([...keys.values()].map((key) => planKeyText(fields, key)))
  return new Map([...stored].filter(([name]) => !mentioned.has(name)))
}

/**
 * Returns the elements of records that this request removes from another relation to the same model. Two relations may
 * contain one record.
 */
function findContested(found: MatchedChildren, all: readonly MatchedChildren[]): readonly BodyElement[] {
  const { replacement, keys } = found
  const { model } = replacement.resource
  const gone = all.filter((other) => other !== found && other.replacement.resource.model === model).map(findRemoved)
  if (gone.length === 0) return []
  const isRemoved = (key: KeyValue): boolean =>
    gone.some((each) => each.has(planKeyText(replacement.resource.keys, key)))
  return [...keys].filter(([, key]) => isRemoved(key)).map(([element]) => element)
}

const REMOVES_PARENT = 'The body removes a record that it also changes.'

/** Returns the error of a collection that removes a record whose changes are in the body, as a tree of records may. */
function findRemovedParents(
  found: MatchedChildren,
  { model }: Pick<StatementContext, 'model'>,
  parentKeys: readonly KeyValue[],
): ErrorsByPlace {
  const { resource, place } = found.replacement
  if (resource.model !== model) return {}
  const removed = findRemoved(found)
  return parentKeys.some((key) => removed.has(planKeyText(resource.keys, key))) ? { [place]: [REMOVES_PARENT] } : {}
}

/** Planned changes of one parent's children. */
interface ChildChanges extends MatchedChildren {
  readonly updates: ReadonlyMap<BodyElement, Awaited<ReturnType<ChildReplacement['update']>>>
  readonly creation: Awaited<ReturnType<ChildReplacement['create']>> | null
  readonly unchanged: readonly BodyElement[]
  /** The deletion of the children that the body omits, and their stored rows; null for none. */
  readonly removal: {
    readonly planned: Awaited<ReturnType<ChildReplacement['remove']>>
    readonly rows: readonly Row[]
  } | null
}

async function planDiff(
  found: MatchedChildren,
  removed: ReadonlyMap<string, Row>,
  removals: RemovalCounter,
): Promise<Diff> {
  const { replacement, keys, newElements, stored, unknownElements, errors } = found
  const { resource, many: isMany, elements } = replacement
  const rows = [...removed.values()].map((row) => row.slice(0, resource.keys.length))
  removals.add(rows.length, replacement)
  const updates: [BodyElement, Awaited<ReturnType<ChildReplacement['update']>>][] = []
  for (const [element, key] of keys)
    if (!element.isUnchanged) updates.push([element, await replacement.update(element, key)])
  const added = newElements.length === 0 ? null : await replacement.create(newElements)
  const { removal, denial } = await planRemoval(replacement, rows)
  const changes: ChildChanges = {
    ...found,
    updates: new Map(updates.map(([element, each]) => [element, { ...each, work: markScopeChecked(each.work) }])),
    creation: added && { ...added, work: markScopeChecked(added.work) },
    unchanged: [...keys.keys()].filter(({ isUnchanged }) => isUnchanged),
    removal,
  }
  await noteStates(changes)
  return {
    nestedWrite: replacement,
    missing: errorsAt(resource, placesOf(unknownElements), 'foreign-key'),
    denial,
    errors,
    conflict: null,
    works: [...updates.map(([, { work }]) => work), ...(added === null ? [] : [added.work])],
    planPendingWrites: async () => [
      ...updates.map(([, { work }]) => work),
      ...(added === null ? [] : newWorksIn(completeNewChildren(added.work, found))),
    ],
    versionChecks: updates.flatMap(([element, { work }]) => {
      const { precondition } = work.plan
      const row = stored.get(planKeyText(resource.keys, keys.get(element)))
      return precondition === null
        ? []
        : [{ resource, place: element.place, precondition, stored: row?.[resource.keys.length] }]
    }),
    execute: async (value, execution, parts) => {
      const shown = await writeChildChanges(changes, value, execution, parts)
      const all = elements.map((element) => shown.get(element)).filter((each) => each !== undefined)
      return isMany ? all : (all[0] ?? null)
    },
  }
}

/** Plans the deletion of children. A denial is returned, because missing records are reported before it. */
async function planRemoval(
  { resource: { keys }, remove }: ChildReplacement,
  rows: readonly Row[],
): Promise<Pick<ChildChanges, 'removal'> & Pick<Diff, 'denial'>> {
  if (rows.length === 0) return { removal: null, denial: null }
  try {
    const planned = await remove(rows.map((row) => keyOfReadRow(keys, row)))
    return { removal: { planned: limitPlan(planned, buildIdentityPredicate(keys, rows)), rows }, denial: null }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { removal: null, denial: error }
  }
}

/** Notes the state of the children for push. The write of their parent may move them into or out of scopes. */
async function noteStates({ store, updates, removal }: ChildChanges): Promise<void> {
  for (const { work } of updates.values()) await noteStateBefore(store, work.plan)
  if (removal !== null) await noteStateBefore(store, removal.planned.work.plan)
}

/** Adds the foreign key of an existing parent to new children. */
function completeNewChildren(
  work: Work<BulkCreatePlan>,
  { replacement, parentKey, newElements }: MatchedChildren,
): Work<BulkCreatePlan> {
  if (parentKey === null || parentKey === undefined) return work
  const { parentKeys: _, ...plan } = addParentKeys(
    work,
    newElements.map(() => bindingValuesOf(replacement.binding, parentKey)),
  )
  return { ...work, plan }
}

/** Returns the key of a stored row. The first values of the row are the key parts. */
function keyOfReadRow(keys: KeyFields, row: Row | undefined): KeyValue {
  const value = row === undefined ? undefined : encodeKey(keys, row.slice(0, keys.length))
  return typeof value === 'number' || typeof value === 'string' ? value : String(value)
}

/**
 * Locks the parent's children that the caller may see. Returns key parts and versions by key text.
 * @throws Problem if there are more children than a request may keep and remove
 */
async function readChildren(
  store: StatementContext,
  { resource, binding, condition, elements, remainingDeletes, createLimitError }: ChildReplacement,
  value: unknown,
): Promise<Map<string, Row>> {
  const { keys, versionField } = resource
  if (value === null || value === undefined) return new Map()
  const versions = versionField === null ? [] : [versionField]
  const where = addCondition(matchChildren(binding, value), condition)
  // Children in excess of the body's elements must be removed, and the number of removals is limited. One more row
  // shows that the limit is exceeded.
  const most = elements.length + Math.max(0, remainingDeletes)
  const rows = await readLocked(store, where, keyColumns([...keys, ...versions]), most + 1)
  if (rows.length > most) throw createLimitError()
  return new Map(rows.map((row) => [keyText(keys, row.slice(0, keys.length)), row]))
}

/** Returns the elements whose client-chosen keys are not taken yet. */
async function findNewElements(
  store: StatementContext,
  { resource, hasClientKeys, condition }: ChildReplacement,
  named: ReadonlyMap<BodyElement, KeyValue>,
  elements: readonly BodyElement[],
): Promise<readonly BodyElement[]> {
  const keyed = hasClientKeys ? elements.filter((element) => named.has(element)) : []
  if (keyed.length === 0) return []
  const keys = keyed.map((element) => named.get(element))
  const rows = await readVisible(
    store,
    addCondition(matchKeys(resource.keys, keys), condition),
    keyColumns(resource.keys),
    keys.length,
  )
  const taken = new Set(rows.map((row) => keyText(resource.keys, row)))
  return keyed.filter((element) => !taken.has(planKeyText(resource.keys, named.get(element))))
}

/** Executes the planned changes. Deletes run first, because they free unique values. */
async function writeChildChanges(
  changes: ChildChanges,
  value: unknown,
  { write, execute, writtenSize, sequence }: WorkExecution,
  parts: WrittenPart[],
): Promise<ReadonlyMap<BodyElement, ResultRecord>> {
  const { replacement, store, updates, creation, newElements } = changes
  const shown = new Map<BodyElement, ResultRecord>()
  await removeChildren(changes, value, write, parts)
  await assertKept(changes, value)
  for (const [element, { work, caller }] of updates) {
    const where = addCondition(work.plan.where, matchChildren(replacement.binding, value))
    const done = await executeInPlace(element, () => execute(store, { ...work, plan: { ...work.plan, where } }))
    parts.push({ result: done, caller })
    shown.set(element, { result: done, index: 0 })
  }
  if (creation !== null) {
    const { work, caller } = creation
    const bindingValues = newElements.map(() => bindingValuesOf(replacement.binding, value))
    const done = await execute(store, { ...work, plan: addParentKeys(work, bindingValues) })
    parts.push({ result: done, caller })
    for (const [index, element] of newElements.entries()) shown.set(element, { result: done, index })
  }
  for (const [element, each] of await readUnchanged(changes, { writtenSize, sequence })) shown.set(element, each)
  return shown
}

/**
 * Deletes the children that the body omits.
 * @throws Problem 404 if the caller may see a child, but not delete it
 */
async function removeChildren(
  { replacement, store, removal }: ChildChanges,
  value: unknown,
  write: WorkWriter,
  parts: WrittenPart[],
): Promise<void> {
  if (removal === null) return
  const { binding, condition, place } = replacement
  const { outcome } = await executePlanned(store, removal.planned, write, parts)
  const where = addCondition(matchChildren(binding, value), condition)
  await assertRemoved(store, { rows: removal.rows, where, outcome, place })
}

/**
 * Checks that the children which the body names still refer to their parent, if the write of the parent has changed the
 * value that they refer to. A foreign key without ON UPDATE CASCADE keeps the old value.
 * @throws Problem 404 with the positions of the elements
 */
async function assertKept({ replacement, store, keys, parentKey }: ChildChanges, value: unknown): Promise<void> {
  const { binding, resource } = replacement
  const { source, key } = binding
  if (keys.size === 0 || storedValueText(source, value) === storedValueText(source, parentKey)) return
  // The database has changed a key that contains the foreign key.
  if (resource.keys.includes(key)) return
  const named = [...keys.values()]
  const where = addCondition(matchChildren(binding, value), matchKeys(resource.keys, named))
  const rows = await readVisible(store, where, keyColumns(resource.keys), maxRowsOf(resource.keys, named.length))
  const kept = new Set(rows.map((row) => keyText(resource.keys, row)))
  const lost = [...keys].filter(([, each]) => !kept.has(planKeyText(resource.keys, each))).map(([element]) => element)
  refuse('not-found', errorsAt(resource, placesOf(lost), 'foreign-key'))
}

/** Runs `work` for an element. Adds the element's position to a thrown Problem, unless a policy refuses the request. */
export async function executeInPlace<T>({ place }: Pick<BodyElement, 'place'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem) || error.errors !== undefined || error.status >= 500 || isSizeError(error))
      throw error
    if (error.status === 401 || error.detail === NO_PERMISSION) throw error
    const { status, code, detail } = error
    const errors = { [place]: [detail ?? error.title] }
    throw new Problem({ status, code, ...(detail === undefined ? {} : { detail }), errors, headers: error.headers })
  }
}

async function readUnchanged(
  { replacement, store, unchanged, keys, stored }: ChildChanges,
  { writtenSize: size, sequence }: Pick<WorkExecution, 'writtenSize' | 'sequence'>,
): Promise<ReadonlyMap<BodyElement, ResultRecord>> {
  const { keys: fields } = replacement.resource
  const { transaction } = store
  if (unchanged.length === 0 || transaction === undefined) return new Map()
  const named = unchanged.map((element) => keys.get(element) ?? '')
  const { work } = await replacement.planRead(named)
  const { projection } = work.plan
  const { columns } = projection
  const parts = named.map((key) => (stored.get(planKeyText(fields, key)) ?? []).slice(0, fields.length))
  const only = buildIdentityPredicate(fields, parts)
  const rows = await readWrittenByKey(store, named, columns, transaction, (read) => size.add(projection, read), only)
  const done: WriteResult = { work, outcome: { kind: 'records', rows }, nested: [], parts: [] }
  sequence.noteRead(done.outcome)
  const places = new Map(rows.map((row, index) => [String(keyOfRow(fields, columns, row)), index]))
  return new Map(
    unchanged.flatMap((element): [BodyElement, ResultRecord][] => {
      const index = places.get(planKeyText(fields, keys.get(element)))
      return index === undefined ? [] : [[element, { result: done, index }]]
    }),
  )
}
