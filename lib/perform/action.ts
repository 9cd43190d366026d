import { isDeepStrictEqual } from 'node:util'
import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import type { Value } from '../../types/field.js'
import type { ActionRecords, Outcome, WrittenRecord } from '../../types/outcome.js'
import type { ActionPlan, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import { internalError } from '../common/internalError.js'
import { isKeyOf, keyColumns, matchKeys, storedKeyOfRow } from '../common/keys.js'
import { addCondition } from '../common/predicates.js'
import { Problem, problem } from '../common/problem.js'
import { ResponseSize } from '../common/responseSize.js'
import { definedModel } from '../sequelize/model.js'
import { addCollections } from './collections.js'
import { instanceKeyParts, loadLocked } from './instances/load.js'
import { updateRecord } from './instances/update.js'
import { readUnscoped, readVisibleAsLocked } from './read.js'
import { readOrRefuse } from './refusal.js'
import { withLockedRecord } from './scoped/lock.js'
import { assertRecordMeets } from './scoped/readBack.js'
import { requestHistoryOf, startRequestHistory } from './scoped/requestHistory.js'
import { findOutOfScope, outOfScopeProblem } from './scoped/scopeChecks.js'
import { noteStateBefore } from './scoped/trackedRecords.js'
import type { StatementContext } from './store.js'
import { inRefusableTransaction, inTransaction } from './transaction.js'
import { createRowLookup, maxRowsOf, withKeySpelling } from './uuidSpellings.js'
import { executeWrite } from './write.js'

/**
 * Calls the handler of an action and saves its record as PATCH does, in one transaction unless `isTransactional` is
 * false.
 * @throws Problem 404, 412 or 428 if the record is missing or fails its precondition
 * @throws Problem 400 if the input is invalid
 * @throws any error of the handler, unchanged
 */
export async function performAction(store: StatementContext, plan: ActionPlan): Promise<Outcome> {
  const { record, errors, action } = plan
  if (errors !== null || (record?.kind === 'update' && record.precondition?.where === null)) {
    if (record !== null) await readOrRefuse(store, record)
    throw problem('validation', { errors: errors ?? {} })
  }
  if (!action.isTransactional) return executeAction(store, plan)
  return inActionTransaction(store, plan, (inside) => executeAction(inside, plan))
}

/** Runs work in a transaction. Under a scope, the write of the action may be refused after it was made. */
function inActionTransaction<T>(
  store: StatementContext,
  { scopeCondition }: ActionPlan,
  work: (inside: StatementContext) => Promise<T>,
): Promise<T> {
  const run = scopeCondition === null ? inTransaction : inRefusableTransaction
  return run(store, (transaction) => work({ ...store, transaction }))
}

async function executeAction(store: StatementContext, plan: ActionPlan): Promise<Outcome> {
  const { parts, returned, ownKey } = await runHandler(store, plan)
  const { action, resultPlan } = plan
  if (action.output === 'value')
    return { kind: 'action', parts, returned: null, value: await action.serializeOutput(returned) }
  if (resultPlan === null) return { kind: 'action', parts, returned: null, value: null }
  return {
    kind: 'action',
    parts,
    returned: await readReturned(store, { plan, resultPlan, ownKey, returned }),
    value: null,
  }
}

/** Return value of the handler, and the records that the action saved. */
interface HandlerResult {
  readonly parts: readonly WrittenRecord[]
  readonly returned: unknown
  /** Key of the request's record, or undefined for an action on the collection. */
  readonly ownKey: KeyValue | undefined
}

async function runHandler(store: StatementContext, plan: ActionPlan): Promise<HandlerResult> {
  const { record } = plan
  if (record === null) return { parts: [], returned: await callHandler(store, plan, null, true), ownKey: undefined }
  if (record.kind === 'get') return withKeySpelling(store, record, (one) => runReadHandler(store, plan, one))
  return withKeySpelling(store, record, (one) =>
    store.transaction === undefined
      ? runHandlerWithoutTransaction(store, plan, one)
      : withLockedRecord(store, one, (inside, own) => runHandlerInTransaction(inside, plan, own)),
  )
}

async function runReadHandler(store: StatementContext, plan: ActionPlan, { where }: GetPlan): Promise<HandlerResult> {
  const instance = await loadLocked(store, where, false)
  const own = storedKeyOf(store, instance)
  return { parts: [], returned: await callHandler(store, plan, instance, false), ownKey: own }
}

async function runHandlerInTransaction(
  store: StatementContext,
  plan: ActionPlan,
  record: UpdatePlan,
): Promise<HandlerResult> {
  let returned: unknown
  let own: KeyValue | undefined
  let handled: Model | null = null
  await noteStateBefore(store, record, plan)
  await noteScopeParts(store, record)
  const outcome = await updateRecord(store, record, async (instance) => {
    own = storedKeyOf(store, instance)
    returned = await callHandler(store, plan, instance, false)
    handled = instance
  }).catch((error: unknown) => {
    throw handled === null ? error : (deletedRecordError(plan, error) ?? error)
  })
  await plan.after?.(handled, store.transaction ?? null)
  await assertRecordInScope(store, plan, record, outcome)
  return { parts: [writtenRecordOf(record, outcome)], returned, ownKey: own }
}

/** Returns the error for a handler that deleted its own record. Returns null for other errors. */
function deletedRecordError({ action }: ActionPlan, error: unknown): Error | null {
  if (!(error instanceof Problem) || error.code !== 'not-found') return null
  return new TypeError(
    `the handler of the action "${action.name}" deleted its record. An action cannot do this: use the operation delete`,
    {
      cause: error,
    },
  )
}

/**
 * Loads the record, calls the handler and writes only the values that the handler changed. The handler holds no lock,
 * so it may be slow.
 */
async function runHandlerWithoutTransaction(
  store: StatementContext,
  plan: ActionPlan,
  record: UpdatePlan,
): Promise<HandlerResult> {
  const instance = await loadLocked(store, record.where, false)
  const before = readInstanceValues(store, instance)
  const own = storedKeyOf(store, instance)
  const returned = await callHandler(store, plan, instance, false)
  const changed = [...readInstanceValues(store, instance)].filter(
    ([name, value]) => instance.changed(name as never) || !isDeepStrictEqual(value, before.get(name)),
  )
  const changes = new Map(changed)
  const outcome = await inActionTransaction(store, plan, async (inside) => {
    await noteStateBefore(inside, record, plan)
    const written = await withLockedRecord(inside, { ...record, changes }, async (locked, one) => {
      await noteScopeParts(locked, { ...one, changes: NO_CHANGES })
      return executeWrite(locked, one)
    })
    await assertRecordInScope(inside, plan, record, written)
    return written
  })
  await plan.after?.(instance, null)
  return { parts: [writtenRecordOf(record, outcome)], returned, ownKey: own }
}

function readInstanceValues({ resource }: StatementContext, instance: Model): Changes {
  const own = resource.fields.filter(({ virtual }) => !virtual)
  return new Map(own.map(({ name }) => [name, instance.getDataValue(name as never) as Value]))
}

/**
 * Calls the `before` hook and the handler. If no record is saved afterwards (`isAlone`), also calls the `after` hook.
 */
async function callHandler(
  store: StatementContext,
  plan: ActionPlan,
  record: Model | null,
  isAlone: boolean,
): Promise<unknown> {
  const { action, input, caller, before, after } = plan
  const { request, identity } = caller
  const { resource } = store
  const transaction = store.transaction ?? null
  await before?.(record, transaction)
  const given: unknown = await action.handler({ record, input, request, identity, transaction, resource })
  // An array may contain promises. Their writes must end before the transaction does.
  const returned: unknown = Array.isArray(given) ? await Promise.all(given) : given
  if (isAlone) await after?.(record, transaction)
  return returned
}

function writtenRecordOf(plan: UpdatePlan, outcome: Outcome): WrittenRecord {
  if (outcome.kind !== 'record')
    throw internalError(`the update after an action has a result of kind "${outcome.kind}"`)
  return { plan, outcome }
}

const NO_CHANGES: Changes = new Map()

/** Notes before the write which conditions of the caller's scope the record meets. */
async function noteScopeParts(store: StatementContext, record: UpdatePlan): Promise<void> {
  if (record.scope === undefined || store.transaction === undefined) return
  startRequestHistory(store.transaction)
  await findOutOfScope(store, [record])
}

/**
 * Checks that the record is still in the caller's scope.
 * @throws Problem 403 if the handler moved the record out of the scope
 */
async function assertRecordInScope(
  store: StatementContext,
  { scopeCondition }: ActionPlan,
  record: UpdatePlan,
  outcome: Outcome,
): Promise<void> {
  if (scopeCondition === null) return
  const { keys } = store.resource
  const rows = await readUnscoped(
    store,
    addCondition(record.identity, scopeCondition),
    keyColumns(keys),
    1,
    store.dialect.readsSnapshots,
  )
  const [key] = rows
  if (key === undefined) throw outOfScopeProblem()
  if (record.scope === undefined) return
  requestHistoryOf(store)?.noteWrite(store.resource, record, outcome)
  await assertRecordMeets(store, record.scope, key)
}

interface ReturnedRecords {
  readonly plan: ActionPlan
  readonly resultPlan: GetPlan
  readonly ownKey: KeyValue | undefined
  readonly returned: unknown
}

/**
 * Reads the records that the handler returned, as far as the caller may read them.
 * @throws Problem 404 if the action returns one record and the caller may not read it
 */
async function readReturned(
  store: StatementContext,
  { plan, resultPlan, ownKey, returned }: ReturnedRecords,
): Promise<ActionRecords> {
  const { action } = plan
  const { keys, query, limits } = store.resource
  const isList = action.output === 'list'
  const resultKeys = isList
    ? readReturnedKeys(store, plan, returned)
    : [readReturnedKey(store, plan, returned, ownKey)].filter((key) => key !== null)
  if (resultKeys.length > query.maxPageSize) {
    throw new TypeError(
      `the action "${action.name}" returned more records than the limit of ${query.maxPageSize} (query.maxPageSize)`,
    )
  }
  const { columns } = resultPlan.projection
  const where = addCondition(resultPlan.where, matchKeys(keys, resultKeys))
  const count = Math.max(1, maxRowsOf(keys, resultKeys.length))
  const found = await readVisibleAsLocked(store, where, [...keyColumns(keys), ...columns], count)
  const ordered = resultKeys.map(createRowLookup(keys, found)).filter((row) => row !== undefined)
  const [first] = ordered
  if (!isList && first === undefined) throw problem('not-found')
  const shown = ordered.map((row) => row.slice(keys.length))
  const rows = await addCollections(store, resultPlan.projection, shown, new ResponseSize(limits.responseBytes))
  const isOther = !isList && action.method === 'get' && first !== undefined && storedKeyOfRow(keys, first) !== ownKey
  return { plan: isOther ? { ...resultPlan, hasOtherRecords: true } : resultPlan, rows }
}

/** Returns the key of an instance, with the stored spelling of UUIDs. Undefined if the instance lacks a part. */
function storedKeyOf({ resource: { keys } }: StatementContext, instance: Model): KeyValue | undefined {
  const parts = instanceKeyParts(keys, instance)
  return parts.some((part) => part === undefined || part === null) ? undefined : storedKeyOfRow(keys, parts)
}

/** Returns the keys of the returned records, without those that no record can have. */
function readReturnedKeys(store: StatementContext, plan: ActionPlan, returned: unknown): readonly KeyValue[] {
  if (Array.isArray(returned)) {
    return returned.map((each) => readReturnedKey(store, plan, each, undefined)).filter((key) => key !== null)
  }
  throw new TypeError(`the action "${plan.action.name}" must return an array of records, because its output is "list"`)
}

/**
 * Returns the key of the record or key that the handler returned. If the handler returned `undefined`, returns the key
 * of the request's record (`own`). Returns null for `null`, and for a key that no record can have.
 */
function readReturnedKey(
  store: StatementContext,
  { action, readKey }: ActionPlan,
  returned: unknown,
  own: KeyValue | undefined,
): KeyValue | null {
  if (returned === null) return null
  if (isKeyOf(store.resource.keys, returned) || typeof returned === 'bigint') return readKey(returned)
  // The router's model may be a scope of the handler's model, or the other way round.
  const isRecord = returned instanceof definedModel(store.model)
  const key = returned === undefined ? own : isRecord ? storedKeyOf(store, returned) : undefined
  if (key !== undefined) return key
  throw new TypeError(`the action "${action.name}" must return records of ${store.model.name}, or their keys`)
}
