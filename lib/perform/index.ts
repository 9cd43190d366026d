import type { Leaving } from '../../types/call.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, GetPlan, Plan, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource, Ticket } from '../../types/resource.js'
import type { Done, Finish, Ordering, Work } from '../../types/work.js'
import { readsOnly } from '../common/listing.js'
import { Problem, problem } from '../common/problem.js'
import { ResponseSize } from '../common/responseSize.js'
import { type Visits, visit } from '../common/visit.js'
import { forgetColumnTypes } from '../sequelize/columnTypes.js'
import { waitBehind, waitingFor } from '../sequelize/connections.js'
import { hasScope } from '../sequelize/model.js'
import { watchQueries } from '../sequelize/watched.js'
import { causeNow } from '../watch/channels.js'
import { act } from './action.js'
import { bulkUpdateAtOnce } from './bulkUpdate.js'
import { withCollections } from './collections.js'
import { hasFindHooks } from './executor.js'
import { exported } from './export.js'
import { oversizedBy, passingProblem, problemOf, unindexedBy } from './failure.js'
import { tryFastTogether } from './fastBulkUpdate.js'
import { foreignKeyProblem } from './foreign.js'
import { errorsOf, isFaulty, withAllErrors, writeOf } from './nested/errors.js'
import { executeWork } from './nested/execute.js'
import { preauthorize } from './nested/preauthorize.js'
import { assertNewKeys } from './newKeys.js'
import { type Once, once } from './once.js'
import { writePointing } from './pointing.js'
import { aggregate, count, get, keyset, list, seek } from './read.js'
import { replace } from './replace.js'
import { revive } from './revive.js'
import { assertStorable } from './scoped/ask.js'
import { knownBefore } from './scoped/before.js'
import { withAllLocked, withLocked } from './scoped/lock.js'
import { isTracked, noteBefore } from './scoped/membership.js'
import { heldToScopes, isScoped } from './scoped/readBack.js'
import type { Item, Write } from './several.js'
import { forOneRecord, forRecords } from './spelled.js'
import { attended, columnsKnown, orderedBy, type Store, storeOf, watchedBy, within } from './store.js'
import { tooManyWaiting } from './time.js'
import { type Commit, commitOf as commitIn, inTransaction, isJoined, limited } from './transaction.js'
import { upsert } from './upsert.js'
import { write } from './write.js'

/**
 * Executes a plan.
 * @throws Problem for errors of the request (400, 404, 409) and temporary failures (503); any other error unchanged
 */
export async function perform(work: Work, leaving: Leaving): Promise<Outcome> {
  const store = heeding(work, leaving)
  return answered({ store, plan: work.plan }, () => carryOut(store, work))
}

/** Executes a work with nested records in one transaction. */
export function performAll(work: Work, leaving: Leaving, order?: Ordering, finish?: Finish): Promise<Done> {
  const store = heeding(work, leaving, order)
  return answered({ store, plan: work.plan }, async () => {
    if (work.branches !== undefined || work.items !== undefined) await preauthorize(store, work)
    return carryOutAll(store, work, finish)
  })
}

/** Executes a work at most once, and stores its reply as an idempotency record. */
export async function performOnce(
  work: Work,
  leaving: Leaving,
  {
    ticket,
    made,
    kept,
    order,
    finish,
  }: {
    readonly ticket: Ticket
    readonly made: (done: Done) => Reply
    /** The reply that is stored for replays. */
    readonly kept: (done: Done, reply: Reply) => Reply
    readonly order: Ordering | undefined
    readonly finish: Finish | undefined
  },
): Promise<Once> {
  const store = attended(storeOf(work.resource), leaving, order)
  return answered({ store, plan: work.plan }, async () => {
    await preauthorize(store, work)
    const write = async (inside: Store) => {
      const done = await carryOutAll(inside, work, finish)
      const reply = made(done)
      return { done, reply, kept: kept(done, reply) }
    }
    // The first statement looks for a stored reply, so later statements must see newer commits.
    const seesCommitted = isScoped(work) || isTracked(work)
    return once(store, work.plan, ticket, write, { hearing: work.hearing, seesCommitted })
  })
}

/**
 * Runs a write that authorizes and writes in one transaction. Code of the host finds the transaction by
 * continuation-local storage. `work` reports each plan, so that a failed COMMIT is answered like the write.
 */
export async function inRequest<T>(
  resource: Resource,
  leaving: Leaving,
  work: (planned: (plan: Plan) => void) => Promise<T>,
): Promise<T> {
  const store = attended(storeOf(resource), leaving)
  let last: Plan | null = null
  const planned = (plan: Plan): void => {
    last = plan
  }
  refuseCrowd(store)
  try {
    return await inTransaction(store, () => work(planned), { isRepeatable: false })
  } catch (error) {
    throw await problemIn(error, store, last)
  }
}

/** A store that stops when the client disconnects: reads are cancelled, and writes are not started. */
function heeding({ resource, plan, branches, items }: Work, leaving: Leaving, order?: Ordering): Store {
  const store = storeOf(resource)
  // Reading a record in order to link others to it is part of a write.
  const isRead = readsOnly(plan) && branches === undefined && items === undefined
  return isRead ? watchedBy(store, leaving) : attended(store, leaving, order)
}

function carryOutAll(store: Store, work: Work, finish?: Finish): Promise<Done> {
  const { plan, branches = [], items = [] } = work
  // A read is limited to scopes by its statement alone.
  if (readsOnly(plan) && branches.length + items.length === 0) return carryOutParts(store, work, finish)
  if (isScoped(work)) return heldToScopes(store, (inside) => carryOutParts(inside, work, finish))
  if (!isTracked(work)) return carryOutParts(store, work, finish)
  // Records are read before they are changed, in the state that other writers have committed.
  const how = { isRepeatable: true, seesCommitted: true }
  return inTransaction(store, (transaction) => carryOutParts(within(store, transaction), work, finish), how)
}

function carryOutParts(store: Store, work: Work, finish?: Finish): Promise<Done> {
  const { branches = [], items = [] } = work
  if (branches.length + items.length > 0) return carryOutTree(store, work, finish)
  if (finish === undefined) return carryOutAlone(store, work)
  return inTransaction(store, async (transaction) => {
    const done = await carryOutAlone(within(store, transaction), work)
    await finish(done, transaction)
    return done
  })
}

async function carryOutAlone(store: Store, work: Work): Promise<Done> {
  const outcome = await carryOut(store, work)
  if (store.transaction !== undefined) store.order?.wrote(work, outcome)
  return { work, outcome, held: [], parts: [] }
}

async function carryOutTree(store: Store, work: Work, finish?: Finish): Promise<Done> {
  const { plan } = work
  // Bodies of new records are validated before the transaction starts.
  if (plan.kind !== 'update' && plan.kind !== 'get' && isFaulty(work)) {
    throw problem('validation', { errors: await limited(store, () => errorsOf([work])) })
  }
  const { order } = store
  const writing: typeof carryOut = async (inside, part) => {
    const outcome = await carryOut(order === undefined ? inside : orderedBy(inside, order), part)
    order?.wrote(part, outcome)
    return outcome
  }
  try {
    return await inTransaction(store, async (transaction) => {
      const done = await executeWork(within(store, transaction), work, writing)
      await finish?.(done, transaction)
      return done
    })
  } catch (error) {
    throw await withAllErrors(error, store, work)
  }
}

/**
 * Rejects the request if too many requests wait for a connection. A joined transaction already has one, and SQLite has
 * no pool.
 */
function refuseCrowd(store: Store): void {
  if (store.dialect.queuesWrites) return
  const limit = store.resource.limits.waiting
  const waiting = waitingFor(store.sequelize)
  if (waiting >= limit && !isJoined(store)) throw tooManyWaiting(waiting, limit)
}

/** Runs a work, and converts database errors into Problems of the write that caused them. */
async function answered<T>(whole: { readonly store: Store; readonly plan: Plan }, work: () => Promise<T>): Promise<T> {
  if (causeNow() !== undefined) watchQueries(whole.store.sequelize)
  refuseCrowd(whole.store)
  try {
    const reading = columnsKnown(whole.store)
    if (reading !== null) await waitBehind(whole.store.sequelize, reading)
    return await work()
  } catch (error) {
    const { store, plan } = writeOf(error) ?? whole
    throw await problemIn(error, store, plan)
  }
}

/** The Problem for a failure, or the error itself if it is unexpected. */
async function problemIn(error: unknown, store: Store, plan: Plan | null): Promise<unknown> {
  // A Problem is the answer, whatever code threw it.
  if (error instanceof Problem) return error
  // Without a plan only a temporary failure of the database is expected. Any other error comes from the host's code.
  if (plan === null) {
    const passing = passingProblem(error, store.resource)
    return passing === null ? error : Object.assign(passing, { cause: error })
  }
  const own = storeOf(store.resource)
  const known = (await foreignKeyProblem(error, own, plan)) ?? problemOf(error, store.resource, plan)
  if (known === null) forgetColumnTypes(store.model)
  // The cause is passed to `onError` and is not part of the response.
  return known === null
    ? (unindexedBy(error, store.resource) ?? oversizedBy(error, store.resource, plan) ?? error)
    : Object.assign(known, { cause: error })
}

async function carryOut(store: Store, work: Work): Promise<Outcome> {
  const { plan, resource } = work
  const before = knownBefore(store)
  const noting = noteBefore(store, plan)
  if (noting !== null) await noting
  const outcome = await visit(CARRIED_OUT, plan, store, work)
  before?.wrote(resource, plan, outcome)
  if (!('projection' in plan) || plan.projection.embeds === undefined) return outcome
  return completed(store, plan.projection, outcome, new ResponseSize(store.resource.limits.responseBytes))
}

/** Adds the embedded collections to an outcome. */
async function completed(store: Store, projection: Projection, outcome: Outcome, size: ResponseSize): Promise<Outcome> {
  if (outcome.kind === 'record') {
    const [row = outcome.row] = await withCollections(store, projection, [outcome.row], size)
    return { ...outcome, row }
  }
  return 'rows' in outcome && outcome.kind !== 'deleted'
    ? { ...outcome, rows: await withCollections(store, projection, outcome.rows, size) }
    : outcome
}

/** Executes each kind of plan. Foreign keys in bodies are checked before the write. */
const CARRIED_OUT: Visits<Plan, [store: Store, work: Work], Promise<Outcome>> = {
  get: (plan, store) => forOneRecord(store, plan, (one) => record(store, one)),
  page: (plan, store) => list(store, plan),
  count: (plan, store) => count(store, plan),
  keyset: (plan, store) => keyset(store, plan),
  seek: (plan, store) => seek(store, plan),
  aggregate: (plan, store) => aggregate(store, plan),
  export: (plan, store) => exported(store, plan),
  action: (plan, store) => act(store, plan, completeRows),
  create: async (plan, store, work) =>
    (await revive(store, plan, (one) => updated(one, store, work))) ?? created(plan, store, work),
  update: updated,
  restore: (plan, store) => forOneRecord(store, plan, (one) => withLocked(store, one, write)),
  delete: (plan, store) => forOneRecord(store, plan, (one) => withLocked(store, one, write)),
  bulkCreate: created,
  bulkDelete: (plan, store) => forRecords(store, plan, (some) => withAllLocked(store, some, write)),
  replace: (plan, store, work) => replace(store, plan, partOf(work)),
  upsert: (plan, store, work) => upsert(store, plan, partOf(work)),
  bulkUpdate: (plan, store, work) =>
    bulkUpdateAtOnce(store, plan, partOf(work), (within, items) => updatedAtOnce(within, items, work.pointers)),
}

/** Adds the embedded collections to the records of an action. */
async function completeRows(store: Store, projection: Projection, rows: readonly Row[]): Promise<readonly Row[]> {
  if (projection.embeds === undefined) return rows
  return withCollections(store, projection, rows, new ResponseSize(store.resource.limits.responseBytes))
}

function updated(plan: UpdatePlan, store: Store, { resource, pointers }: Work): Promise<Outcome> {
  return forOneRecord(store, plan, (one) =>
    withLocked(store, one, async (inside, own) => {
      await assertStorable(inside, own)
      return writePointing(inside, { resource, plan: own, pointers }, write)
    }),
  )
}

/** Invalid values are reported first, by the write itself. The scope is checked only for valid ones. */
async function created(
  plan: CreatePlan | BulkCreatePlan,
  store: Store,
  { resource, pointers }: Work,
): Promise<Outcome> {
  const isInvalid = plan.kind === 'create' ? plan.invalid !== null : plan.invalid.size > 0
  if (!isInvalid) await assertStorable(store, plan)
  return writePointing(store, { resource, plan, pointers }, (inside, met) =>
    assertNewKeys(inside, met).then(() => write(inside, met)),
  )
}

/** Executes one item of a work with several records. */
function partOf({ resource, pointers }: Work): Write {
  return (within, part) => carryOut(within, { resource, plan: part, pointers })
}

/** Executes several updates with one statement, if none of them has a foreign key to check. */
async function updatedAtOnce(
  store: Store,
  items: readonly Item[],
  pointers: Work['pointers'],
): Promise<readonly Outcome[] | null> {
  const plans = items.filter((item) => item.kind !== 'create')
  const isPlain = plans.every((plan) => {
    const isPointing = pointers.some(({ field }) => plan.changes.has(field.name))
    return !isPointing && plan.projection.embeds === undefined
  })
  return isPlain && plans.length === items.length ? tryFastTogether(store, plans) : null
}

async function record(store: Store, plan: GetPlan): Promise<Outcome> {
  const row = await get(store, plan)
  if (row === null) throw problem('not-found')
  return { kind: 'record', row }
}

/** A record that was just written, or null if it is missing or hidden by the model. */
export function read(resource: Resource, where: Predicate, projection: Projection): Promise<Row | null> {
  return get(storeOf(resource), { where, projection }, { main: true })
}

/** Whether the model may hide records from reads. */
export function hidesRecords({ model }: Resource): boolean {
  return hasFindHooks(model) || hasScope(model)
}

/** The commit of a write that is made now. A rolled back write has no commit. */
export function commitOf(resource: Resource): Commit {
  return commitIn(storeOf(resource))
}

export { hostOptions } from './instances/find.js'
export { groupOptions } from './instances/groups.js'
export { inLine, type Once } from './once.js'
export { hasSay } from './pointing.js'
export { conditionsMet } from './scoped/evaluate.js'
export { allBehind, walked } from './segments.js'
export { columnsKnown, type Store, storeOf } from './store.js'
