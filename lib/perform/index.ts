import type { Leaving } from '../../types/call.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, GetPlan, Plan, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource, Ticket } from '../../types/resource.js'
import type { Done, Finish, Ordering, Work } from '../../types/work.js'
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
 * Does what a plan says, on the database.
 *
 * @throws Problem for what the database refused (404, 409, 400) or could not do now (503); anything else as it came
 */
export async function perform(work: Work, leaving: Leaving): Promise<Outcome> {
  const store = heeding(work, leaving)
  return answered({ store, plan: work.plan }, () => carryOut(store, work))
}

/** The same of a work whose bodies hold records of others: all of it or nothing. */
export function performAll(work: Work, leaving: Leaving, order?: Ordering, finish?: Finish): Promise<Done> {
  const store = heeding(work, leaving, order)
  const isAlone = work.branches === undefined && work.items === undefined
  const carryOut = (): Promise<Done> => carryOutAll(store, work, finish)
  return answered({ store, plan: work.plan }, isAlone ? carryOut : () => preauthorize(store, work).then(carryOut))
}

/** The same of a write that is to be done once, with the reply that is kept of it. */
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
    /** The reply as other callers with the ticket get it. */
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
    // Its first look at the database is that for a reply that was kept.
    const seesCommitted = isScoped(work) || isTracked(work)
    return once(store, work.plan, ticket, write, { hearing: work.hearing, seesCommitted })
  })
}

/**
 * Does the part of a write that evaluates policies and writes, in one transaction that all of it finds by continuation-local storage.
 * `work` says what is planned. A COMMIT that fails is answered as the write would be.
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

/** Plans that only read. */
function isReading(plan: Plan): boolean {
  return plan.kind in READS || (plan.kind === 'action' && plan.action.method === 'get')
}

const READS = { get: 0, page: 0, count: 0, keyset: 0, seek: 0, aggregate: 0, export: 0 }

/** The store of a work whose caller may go: what writes is not begun then, and what only reads is ended. */
function heeding({ resource, plan, branches, items }: Work, leaving: Leaving, order?: Ordering): Store {
  const store = storeOf(resource)
  // A record that is read so that others can be linked to it is part of a write.
  const isRead = isReading(plan) && branches === undefined && items === undefined
  return isRead ? watchedBy(store, leaving) : attended(store, leaving, order)
}

function carryOutAll(store: Store, work: Work, finish?: Finish): Promise<Done> {
  const carryOut = (inside: Store): Promise<Done> => carryOutParts(inside, work, finish)
  if (!isWritten(work)) return carryOut(store)
  if (isScoped(work)) return heldToScopes(store, carryOut)
  if (!isTracked(work)) return carryOut(store)
  // Records are read before they are changed, as others have committed them.
  const how = { isRepeatable: true, seesCommitted: true }
  return inTransaction(store, (transaction) => carryOut(within(store, transaction)), how)
}

/** Whether a work writes. What reads is held to scopes by its statement alone. */
function isWritten({ plan, branches = [], items = [] }: Work): boolean {
  return !isReading(plan) || branches.length + items.length > 0
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
  // Bodies of new records are looked at before there is a transaction.
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

/** Refuses at once what would only make the queue for connections longer. A transaction that has begun has its connection. SQLite has no pool. */
function refuseCrowd(store: Store): void {
  if (store.dialect.queuesWrites) return
  const limit = store.resource.limits.waiting
  const waiting = waitingFor(store.sequelize)
  if (waiting >= limit && !isJoined(store)) throw tooManyWaiting(waiting, limit)
}

/** Does something, and makes an answer of what the database refuses, by the write that it has refused. */
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

/** The Problem that answers a failure, or the failure itself if it is unexpected. */
async function problemIn(error: unknown, store: Store, plan: Plan | null): Promise<unknown> {
  // A Problem is an answer already, whoever threw it.
  if (error instanceof Problem) return error
  // Before anything is planned the database can only be unavailable. Everything else is the host's.
  if (plan === null) {
    const passing = passingProblem(error, store.resource)
    return passing === null ? error : Object.assign(passing, { cause: error })
  }
  const own = storeOf(store.resource)
  const known = (await foreignKeyProblem(error, own, plan)) ?? problemOf(error, store.resource, plan)
  if (known === null) forgetColumnTypes(store.model)
  // The cause is for `onError`; nothing of it is in the answer.
  return known === null
    ? (unindexedBy(error, store.resource) ?? oversizedBy(error, store.resource, plan) ?? error)
    : Object.assign(known, { cause: error })
}

function carryOut(store: Store, work: Work): Promise<Outcome> {
  const { plan, resource } = work
  const before = knownBefore(store)
  const noting = noteBefore(store, plan)
  const noted = noting === null ? withoutCollections(store, work) : noting.then(() => withoutCollections(store, work))
  const done =
    before === null
      ? noted
      : noted.then((outcome) => {
          before.wrote(resource, plan, outcome)
          return outcome
        })
  if (!('projection' in plan) || plan.projection.embeds === undefined) return done
  const { projection } = plan
  const size = new ResponseSize(store.resource.limits.responseBytes)
  return done.then((outcome) => completed(store, projection, outcome, size))
}

/** The same outcome, with the collections of its records. */
async function completed(store: Store, projection: Projection, outcome: Outcome, size: ResponseSize): Promise<Outcome> {
  if (outcome.kind === 'record') {
    const [row = outcome.row] = await withCollections(store, projection, [outcome.row], size)
    return { ...outcome, row }
  }
  return 'rows' in outcome && outcome.kind !== 'deleted'
    ? { ...outcome, rows: await withCollections(store, projection, outcome.rows, size) }
    : outcome
}

function withoutCollections(store: Store, work: Work): Promise<Outcome> {
  return visit(CARRIED_OUT, work.plan, store, work)
}

/** How each kind of plan is carried out, with the foreign keys of bodies checked before what has them is written. */
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

/** Adds what a projection shows of other records to the rows that an action answers. */
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

/** Invalid values are reported by the write, before the scope. */
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

/** Carries out a part of a work that holds several records. */
function partOf({ resource, pointers }: Work): Write {
  return (within, part) => carryOut(within, { resource, plan: part, pointers })
}

/** Several updates by one writer, where they point at nothing that must be looked for first. */
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

/** A record that was just written, by any condition of its own; null where there is none, or the model hides it. */
export function read(resource: Resource, where: Predicate, projection: Projection): Promise<Row | null> {
  return get(storeOf(resource), { where, projection }, { main: true })
}

/** Whether the model itself may hide records, so that one which was just written may not be there for a read. */
export function hidesRecords({ model }: Resource): boolean {
  return hasFindHooks(model) || hasScope(model)
}

/** The commit that a write made now will have. What is rolled back has none, and nothing follows it. */
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
