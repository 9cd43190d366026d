import { isDeepStrictEqual } from 'node:util'
import type { Model } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import type { JsonValue, Value } from '../../types/field.js'
import type { Outcome, Part, Row, Shown } from '../../types/outcome.js'
import type { ActionPlan, GetPlan, Projection, UpdatePlan } from '../../types/plan.js'
import { keyColumns, keyIn, withKeys } from '../common/keys.js'
import { both } from '../common/predicates.js'
import { Problem, problem } from '../common/problem.js'
import { keyOf, loaded } from './instances/load.js'
import { update } from './instances/update.js'
import { hidden, shownOf } from './read.js'
import { refuseMissing } from './refusal.js'
import { failingOf, unstorable } from './scoped/ask.js'
import { beginRequest, knownBefore } from './scoped/before.js'
import { withLocked } from './scoped/lock.js'
import { noteBefore } from './scoped/membership.js'
import { assertAdmitted } from './scoped/readBack.js'
import { forOneRecord } from './spelled.js'
import { type Store, within } from './store.js'
import { inTransaction } from './transaction.js'
import { write } from './write.js'

/** Adds the embedded collections of a projection to rows. */
export type Complete = (store: Store, projection: Projection, rows: readonly Row[]) => Promise<readonly Row[]>

/**
 * Calls the handler of an action and saves its record as PATCH does. All of it is one transaction, unless the action is
 * not transactional.
 * @throws Problem 404, 428 or 412 for the record, then 400 for the input; any error of the handler
 */
export async function act(store: Store, plan: ActionPlan, complete: Complete): Promise<Outcome> {
  const { record, errors, action } = plan
  if (errors !== null || (record?.kind === 'update' && record.precondition?.where === null)) {
    if (record !== null) await refuseMissing(store, record)
    throw problem('validation', { errors: errors ?? {} })
  }
  if (!action.isTransactional) return carryOut(store, plan, complete)
  return inTransaction(store, (transaction) => carryOut(within(store, transaction), plan, complete))
}

async function carryOut(store: Store, plan: ActionPlan, complete: Complete): Promise<Outcome> {
  const { parts, returned, own } = await handled(store, plan)
  const { action, show } = plan
  if (action.output === 'value') return { kind: 'acted', parts, shown: null, value: await action.written(returned) }
  if (show === null) return { kind: 'acted', parts, shown: null, value: null }
  return { kind: 'acted', parts, shown: await shown(store, { plan, show, own, returned }, complete), value: null }
}

/** Result of the handler, and the records that were saved. */
interface Handled {
  readonly parts: readonly Part[]
  readonly returned: unknown
  /** Key of the request's record, or undefined for an action on the collection. */
  readonly own: JsonValue | undefined
}

async function handled(store: Store, plan: ActionPlan): Promise<Handled> {
  const { record } = plan
  if (record === null) return { parts: [], returned: await run(store, plan, null, true), own: undefined }
  if (record.kind === 'get') return forOneRecord(store, record, (one) => handledRead(store, plan, one))
  return forOneRecord(store, record, (one) =>
    store.transaction === undefined
      ? handledAlone(store, plan, one)
      : withLocked(store, one, (inside, own) => handledWithin(inside, plan, own)),
  )
}

async function handledRead(store: Store, plan: ActionPlan, { where }: GetPlan): Promise<Handled> {
  const instance = await loaded(store, where, false)
  const own = keyOf(store.resource.keys, instance)
  return { parts: [], returned: await run(store, plan, instance, false), own }
}

async function handledWithin(store: Store, plan: ActionPlan, record: UpdatePlan): Promise<Handled> {
  let returned: unknown
  let own: JsonValue | undefined
  let handled: Model | null = null
  await noteBefore(store, record, plan)
  await noteParts(store, record)
  const outcome = await update(store, record, async (instance) => {
    own = keyOf(store.resource.keys, instance)
    returned = await run(store, plan, instance, false)
    handled = instance
  }).catch((error: unknown) => {
    throw handled === null ? error : (deletedBy(plan, error) ?? error)
  })
  await plan.after?.(handled, store.transaction ?? null)
  await assertStorable(store, plan, record, outcome)
  return { parts: [partOf(record, outcome)], returned, own }
}

/**
 * The error for a handler that has deleted its own record, so that it cannot be saved. Returns null for other errors.
 */
function deletedBy({ action }: ActionPlan, error: unknown): Error | null {
  if (!(error instanceof Problem) || error.code !== 'not-found') return null
  return new TypeError(`the handler of the action ${action.name} has deleted its record: use DELETE for that`, {
    cause: error,
  })
}

/**
 * Without a transaction the handler may be slow, because it holds no lock. Only the values that it changes are written.
 */
async function handledAlone(store: Store, plan: ActionPlan, record: UpdatePlan): Promise<Handled> {
  const instance = await loaded(store, record.where, false)
  const before = valuesIn(store, instance)
  const own = keyOf(store.resource.keys, instance)
  const returned = await run(store, plan, instance, false)
  const changed = [...valuesIn(store, instance)].filter(
    ([name, value]) => instance.changed(name as never) || !isDeepStrictEqual(value, before.get(name)),
  )
  const changes = new Map(changed)
  const outcome = await inTransaction(store, async (transaction) => {
    const inside = within(store, transaction)
    await noteBefore(inside, record, plan)
    const written = await withLocked(inside, { ...record, changes }, async (locked, one) => {
      await noteParts(locked, { ...one, changes: NONE })
      return write(locked, one)
    })
    await assertStorable(inside, plan, record, written)
    return written
  })
  await plan.after?.(instance, null)
  return { parts: [partOf(record, outcome)], returned, own }
}

/** Values of an instance by attribute. */
function valuesIn({ resource }: Store, instance: Model): Changes {
  const own = resource.fields.filter(({ virtual }) => !virtual)
  return new Map(own.map(({ name }) => [name, instance.getDataValue(name as never) as Value]))
}

/** Calls the `before` hook and the handler. Without a record it also calls the `after` hook. */
async function run(store: Store, plan: ActionPlan, record: Model | null, isAlone: boolean): Promise<unknown> {
  const { action, input, caller, before, after } = plan
  const { request, identity } = caller
  const { resource } = store
  const transaction = store.transaction ?? null
  await before?.(record, transaction)
  const returned = await action.handler({ record, input, request, identity, transaction, resource })
  if (isAlone) await after?.(record, transaction)
  return returned
}

function partOf(plan: UpdatePlan, outcome: Outcome): Part {
  if (outcome.kind !== 'record') throw new TypeError(`an update came to ${outcome.kind}`)
  return { plan, outcome }
}

const NONE: Changes = new Map()

/** Records which parts of the scope's condition the record meets before the write. */
async function noteParts(store: Store, record: UpdatePlan): Promise<void> {
  if (record.scope === undefined || store.transaction === undefined) return
  beginRequest(store.transaction)
  await failingOf(store, [record])
}

/** @throws Problem 403 if the handler has moved the record out of the caller's scope */
async function assertStorable(
  store: Store,
  { limit }: ActionPlan,
  record: UpdatePlan,
  outcome: Outcome,
): Promise<void> {
  if (limit === null) return
  const { keys } = store.resource
  const rows = await hidden(store, both(record.identity, limit), keyColumns(keys), 1, store.dialect.readsSnapshots)
  const [key] = rows
  if (key === undefined) throw unstorable()
  if (record.scope === undefined) return
  knownBefore(store)?.wrote(store.resource, record, outcome)
  await assertAdmitted(store, record.scope, key)
}

interface Showing {
  readonly plan: ActionPlan
  readonly show: GetPlan
  readonly own: JsonValue | undefined
  readonly returned: unknown
}

/** The returned records that the caller may read. @throws Problem 404 if a single record may not be read */
async function shown(store: Store, { plan, show, own, returned }: Showing, complete: Complete): Promise<Shown> {
  const { action } = plan
  const { keys, query } = store.resource
  const isList = action.output === 'list'
  const wanted = isList ? keysIn(store, action.name, returned) : [keyGiven(store, action.name, returned, own)]
  if (wanted.length > query.maxPageSize) {
    throw new TypeError(
      `the action ${action.name} has returned more records than query.maxPageSize ${query.maxPageSize}`,
    )
  }
  const { columns } = show.projection
  const where = both(show.where, withKeys(keys, wanted))
  const found = await shownOf(store, where, columns, Math.max(1, wanted.length))
  const rows = await complete(store, show.projection, found)
  const byKey = new Map(rows.map((row) => [String(keyIn(keys, columns, row)), row]))
  const ordered = wanted.map((key) => byKey.get(String(key))).filter((row) => row !== undefined)
  if (!isList && ordered.length === 0) throw problem('not-found')
  const isOther = !isList && action.method === 'get' && String(wanted[0]) !== String(own)
  return { plan: isOther ? { ...show, isOfOthers: true } : show, rows: ordered }
}

function keysIn(store: Store, name: string, returned: unknown): readonly JsonValue[] {
  if (Array.isArray(returned)) return returned.map((each) => keyGiven(store, name, each, undefined))
  throw new TypeError(`the action ${name} must return an array of records`)
}

/** The key of a returned record or a returned key. `undefined` means the request's record. */
function keyGiven(store: Store, name: string, returned: unknown, own: JsonValue | undefined): JsonValue {
  if (returned === null) throw problem('not-found')
  const given = returned instanceof store.model ? keyOf(store.resource.keys, returned) : returned
  const key = given === undefined ? own : given
  if (typeof key === 'string' || typeof key === 'number') return key
  throw new TypeError(`the action ${name} must return a record of ${store.model.name}, or its key`)
}
