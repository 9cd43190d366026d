// Reads written records back under the caller's scope conditions, before the commit.

import type { Transaction } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { Column, Plan, Predicate } from '../../../types/plan.js'
import type { NestedWrite, Work, WriteResult } from '../../../types/work.js'
import { errorsAt, hasErrors, mergeErrors } from '../../common/bodyErrors.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { indexOfOwnColumn, ownColumn, requireField } from '../../common/columns.js'
import { getOrCreate } from '../../common/getOrCreate.js'
import { internalError } from '../../common/internalError.js'
import { keyColumns } from '../../common/keys.js'
import { outcomeRows } from '../../common/outcomeRows.js'
import { addCondition, hasSubquery, NEVER } from '../../common/predicates.js'
import type { ProblemErrors } from '../../common/problem.js'
import { associationKeysOf } from '../../sequelize/model.js'
import { buildIdentityPredicate, identityText } from '../recordIdentity.js'
import { statementReader } from '../statements/read.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { inRefusableTransaction } from '../transaction.js'
import { findPathParts, type PathPart, replaceParts } from './paths.js'
import { requestHistoryOf, startRequestHistory } from './requestHistory.js'
import { outOfScopeProblem } from './scopeChecks.js'

/**
 * Whether a write may have a scope condition, so that its records must be read back. For nested writes that are planned
 * later, only the resource is known.
 */
export function isScoped({
  plan,
  nestedWrites = [],
  nestedResources = [],
}: Pick<Work, 'plan' | 'nestedWrites' | 'nestedResources'>): boolean {
  return (
    hasScopeCondition(plan) ||
    nestedWrites.some(isScopedNestedWrite) ||
    nestedResources.some(({ behaviours }) => behaviours.resolveScope !== null)
  )
}

function hasScopeCondition(plan: Plan): boolean {
  switch (plan.kind) {
    case 'bulkUpdate':
      return plan.combined.scope !== undefined
    case 'upsert':
      return plan.anyUpdate.scope !== undefined || plan.items.some(({ create }) => create.scope !== undefined)
    case 'replace':
      return plan.update.scope !== undefined || plan.create?.scope !== undefined
    default:
      return 'scope' in plan && plan.scope !== undefined
  }
}

function isScopedNestedWrite(nestedWrite: NestedWrite): boolean {
  if (nestedWrite.kind === 'new') return isScoped(nestedWrite.work)
  const met =
    nestedWrite.kind === 'linked'
      ? [nestedWrite.joinRowCondition, nestedWrite.targetCondition]
      : [nestedWrite.condition]
  return met.some((condition) => condition !== null && hasSubquery(condition))
}

/**
 * Runs a write with scope conditions in a transaction, and reads the records back in the state of the latest commits.
 * In a transaction of the host, an error rolls back to a savepoint.
 * @throws Problem 403 if stored records are outside the caller's scope
 */
export function writeWithinScopes(
  store: StatementContext,
  work: (store: StatementContext) => Promise<WriteResult>,
): Promise<WriteResult> {
  const writeAndReadBack = async (transaction: Transaction): Promise<WriteResult> => {
    const inside = { ...store, transaction }
    startRequestHistory(transaction)
    const done = await work(inside)
    await readBack(inside, done)
    return done
  }
  return inRefusableTransaction(store, writeAndReadBack, { isRepeatable: true, readsCommitted: true })
}

/** Stored record, and the condition that the record must meet. */
interface StoredRecord {
  readonly condition: Predicate
  /** Values of the key fields. */
  readonly key: Row
  /** Position in the request. null for the only record of a request. */
  readonly place: string | null
}

async function readBack(store: StatementContext, done: WriteResult): Promise<void> {
  const missing: string[] = []
  const errors: ProblemErrors[] = []
  for (const { work, stored } of iterateStored(done)) {
    const inside = storeInSameTransaction(store, work.resource)
    // If only the links of a record change, the record itself is not written but is checked too.
    if (work.plan.kind === 'get' && work.plan.scope !== undefined) await assertConditionMet(inside, work.plan.where)
    for (const condition of new Set(stored.map((each) => each.condition))) {
      const some = stored.filter((each) => each.condition === condition)
      const outside = await findUnmet(inside, condition, some)
      for (const { place } of outside) {
        if (place === null) missing.push('')
        else errors.push(errorsAt(work.resource, [place], 'scope'))
      }
    }
  }
  const all = mergeErrors(errors)
  if (missing.length > 0 || hasErrors(all)) throw outOfScopeProblem(all)
}

async function findUnmet(
  store: StatementContext,
  condition: Predicate,
  stored: readonly StoredRecord[],
): Promise<readonly StoredRecord[]> {
  const { keys } = store.resource
  const starts = findPartStarts(store, condition)
  const columns = keyColumns([...keys, ...starts.map(({ field }) => field)])
  const outside: StoredRecord[] = []
  for (const some of splitIntoChunks(stored)) {
    const rows = await readMeetingRows(store, { condition, columns, stored: some })
    outside.push(...some.filter(({ key }) => !rows.has(identityText(keys, key))))
    outside.push(...(await findSelfAdmitted(store, condition, starts, rows, some)))
  }
  return outside
}

/** Returns the rows of the records that meet a condition, by key text. */
async function readMeetingRows(
  store: StatementContext,
  {
    condition,
    columns,
    stored,
  }: { readonly condition: Predicate; readonly columns: readonly Column[]; readonly stored: readonly StoredRecord[] },
): Promise<ReadonlyMap<string, Row>> {
  const { keys } = store.resource
  const all = buildIdentityPredicate(
    keys,
    stored.map(({ key }) => key),
  )
  const rows = await readRows(store, addCondition(all, { kind: 'apart', condition }), columns, stored.length)
  return new Map(rows.map((row) => [identityText(keys, row.slice(0, keys.length)), row]))
}

/** A part of a condition with its foreign key field. */
interface PartStart extends PathPart {
  readonly field: Field
}

function findPartStarts({ resource: { fields } }: StatementContext, condition: Predicate): readonly PartStart[] {
  return findPathParts(condition).map((part) => {
    return { ...part, field: requireField(fields, associationKeysOf(part.association).foreignKey) }
  })
}

/**
 * Finds records that meet the condition only because of rows that this request has written. A part over a foreign key
 * is accepted if it was met before the request. It is also accepted if it leads to a record that the request creates.
 * If a hook or the database set the foreign key, the part must be met without the request's rows.
 */
async function findSelfAdmitted(
  store: StatementContext,
  condition: Predicate,
  starts: readonly PartStart[],
  rows: ReadonlyMap<string, Row>,
  stored: readonly StoredRecord[],
): Promise<readonly StoredRecord[]> {
  const { keys } = store.resource
  const groups = new Map<
    string,
    { readonly parts: ReadonlyMap<Predicate, Predicate>; readonly stored: StoredRecord[] }
  >()
  for (const each of stored) {
    const row = rows.get(identityText(keys, each.key))
    if (row === undefined) continue
    const parts = starts.flatMap((start, index): [Predicate, Predicate][] => {
      const part = partForValue(store, start, row[keys.length + index])
      return part === start.node ? [] : [[start.node, part]]
    })
    if (parts.length === 0) continue
    const name = JSON.stringify(
      parts.map(([node, { kind }]) => [starts.findIndex((start) => start.node === node), kind]),
    )
    getOrCreate(groups, name, () => ({ parts: new Map(parts), stored: [] })).stored.push(each)
  }
  const outside: StoredRecord[] = []
  for (const { parts, stored: some } of groups.values()) {
    const counted = { condition: replaceParts(condition, parts), columns: keyColumns(keys), stored: some }
    const met = await readMeetingRows(store, counted)
    outside.push(...some.filter(({ key }) => !met.has(identityText(keys, key))))
  }
  return outside
}

/** Adjusts a part of the condition to the history of a foreign key value. */
function partForValue(store: StatementContext, { node, association, field }: PartStart, value: unknown): Predicate {
  const before = requestHistoryOf(store)
  if (before === null || value === null || value === undefined) return node
  const text = String(field.decode(value))
  const wasMet = before.wasMet(node, text)
  if (wasMet === true || before.isCreating(association.target, associationKeysOf(association).targetKey, text))
    return node
  return wasMet === false ? NEVER : addCondition(node, before.excludeWritten(node, store.model))
}

/** Reads the rows that meet a condition, including hidden rows. A direct SQL statement excludes hooks of the host. */
function readRows(
  store: StatementContext,
  where: Predicate,
  columns: readonly Column[],
  limit: number,
): Promise<readonly Row[]> {
  const { transaction } = store
  if (transaction === undefined)
    throw internalError(`written records of ${store.resource.name} are read back outside their transaction`)
  const within = { transaction, unscoped: true, includeDeleted: true, isFromPrimary: true }
  return statementReader.readRows(store, { where, columns, order: [], limit }, within)
}

/**
 * Checks a record that an action has saved.
 * @throws Problem 403 if the record does not meet the condition
 */
export async function assertRecordMeets(store: StatementContext, condition: Predicate, key: Row): Promise<void> {
  if ((await findUnmet(store, condition, [{ condition, key, place: null }])).length > 0) throw outOfScopeProblem()
}

/**
 * Checks that a record still meets the condition.
 * @throws Problem 403 if no record meets the condition any more
 */
async function assertConditionMet(store: StatementContext, where: Predicate): Promise<void> {
  if ((await readRows(store, where, keyColumns(store.resource.keys), 1)).length === 0) throw outOfScopeProblem()
}

/**
 * Positions of records in the request, by the value of an attribute. The position is null for a record that the request
 * does not name.
 */
export type RecordPlaces = ReadonlyMap<unknown, string | null>

/**
 * Checks that all records still meet the condition.
 * @throws Problem 403 with the positions of the records that do not
 */
export async function assertRecordsMeet(
  store: StatementContext,
  field: Field,
  where: Predicate,
  all: RecordPlaces,
): Promise<void> {
  const rows = await readRows(store, where, [ownColumn(field)], all.size)
  if (rows.length >= all.size) return
  const met = new Set(rows.map(([value]) => String(field.decode(value))))
  const places = [...all].flatMap(([value, place]) => (met.has(String(field.decode(value))) ? [] : place || []))
  throw outOfScopeProblem(errorsAt(store.resource, places, 'scope'))
}

function* iterateStored(
  done: WriteResult,
  isPart = false,
): Iterable<{ readonly work: Work; readonly stored: readonly StoredRecord[] }> {
  yield { work: done.work, stored: storedRecordsOf(done, isPart) }
  for (const part of done.parts) yield* iterateStored(part.result, true)
}

function storedRecordsOf({ work, outcome }: WriteResult, isPart: boolean): readonly StoredRecord[] {
  const { plan, places } = work
  if (outcome.kind === 'parts') {
    return outcome.parts.flatMap((part, index) => {
      return toStoredRecords(work, part.plan, part.outcome, () => (plan.kind === 'replace' ? null : `[${index}]`))
    })
  }
  const placeOf = (index: number): string | null => {
    if (isPart) return places?.[index] || null
    return plan.kind === 'bulkCreate' ? `[${index}]` : null
  }
  return toStoredRecords(work, plan, outcome, placeOf)
}

function toStoredRecords(
  { resource: { keys } }: Work,
  plan: Plan,
  outcome: Outcome,
  placeOf: (index: number) => string | null,
): readonly StoredRecord[] {
  if (plan.kind === 'get' || !('scope' in plan) || plan.scope === undefined) return []
  const { scope: condition, projection } = plan
  return outcomeRows(outcome).map((row, index) => {
    const key = keys.map(({ name }) => row[indexOfOwnColumn(projection.columns, name)])
    if (key.includes(undefined))
      throw internalError(`a record written by a plan of kind "${plan.kind}" was read back without its key`)
    return { condition, key, place: placeOf(index) }
  })
}
