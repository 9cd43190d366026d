import type { Transaction } from 'sequelize'
import type { ClientConnection } from '../../types/call.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Plan, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { IdempotencyRequest, Resource } from '../../types/resource.js'
import type { CommitOrder, Finish, Work, WriteResult } from '../../types/work.js'
import { Problem, problem } from '../common/problem.js'
import { ResponseSize } from '../common/responseSize.js'
import { type Visitors, visit } from '../common/visitor.js'
import { forgetColumnTypes } from '../sequelize/columnTypes.js'
import { countWaiting, waitForShared } from '../sequelize/connections.js'
import { hasScope } from '../sequelize/model.js'
import { traceQueries } from '../sequelize/tracedQueries.js'
import { currentCause } from '../trace/channels.js'
import { performAction } from './action.js'
import { performBulkUpdateTogether } from './bulkUpdate.js'
import { addCollections } from './collections.js'
import { hasFindHooks } from './executor.js'
import { exportRecords } from './export.js'
import { failureProblem, missingIndexError, oversizedScopeError, transientProblem } from './failure.js'
import { tryUpdateTogether } from './fastBulkUpdate.js'
import { writeWithForeignKeyChecks } from './foreignKeyChecks.js'
import { foreignKeyProblem } from './foreignKeyProblem.js'
import { type IdempotentResult, writeIdempotently } from './idempotency.js'
import type { ItemPlan, ItemWriter } from './items.js'
import { addAllErrors, attributionOf, errorsOfWorks, hasWorkErrors } from './nested/errors.js'
import { executeWork } from './nested/execute.js'
import { collectMissingKeys, nestedWritesOfNew } from './nested/insert.js'
import { preauthorize } from './nested/preauthorize.js'
import { assertNewKeys } from './newKeys.js'
import { readRecord, selectCount, selectGroups, selectKeysetPage, selectPage, selectSeekPage } from './read.js'
import { performReplace } from './replace.js'
import { reviveDeleted } from './revive.js'
import { withLockedRecord, withLockedRecords } from './scoped/lock.js'
import { isScoped, writeWithinScopes } from './scoped/readBack.js'
import { requestHistoryOf } from './scoped/requestHistory.js'
import { assertWithinScope } from './scoped/scopeChecks.js'
import { isTracked, noteStateBefore } from './scoped/trackedRecords.js'
import { ensureColumnTypes, type StatementContext, storeOf, withAbort } from './store.js'
import {
  pendingCommitOf as commitIn,
  inTransaction,
  isInTransaction,
  type PendingCommit,
  withWriteTimeout,
} from './transaction.js'
import { uniqueProblem } from './uniqueProblem.js'
import { performUpsert } from './upsert.js'
import { withKeySpelling, withKeySpellings } from './uuidSpellings.js'
import { executeWrite } from './write.js'
import { poolFullProblem } from './writeTimeout.js'

/**
 * Executes a plan that only reads. The read is cancelled when the client disconnects.
 * @throws Problem for errors of the request (400, 404) and temporary failures (503); any other error unchanged
 */
export function performRead(work: Work, client: ClientConnection): Promise<WriteResult> {
  const { plan } = work
  const store = withAbort(storeOf(work.resource), client)
  return withProblems({ store, plan }, async () => {
    const outcome = await completeOutcome(store, plan, await visit(PLAN_EXECUTIONS, plan, store, work))
    return { work, outcome, nested: [], parts: [] }
  })
}

/**
 * Executes a write and its nested writes in one transaction. The write is not started if the client has disconnected.
 * @throws Problem for errors of the request (400, 404, 409) and temporary failures (503); any other error unchanged
 */
export function performWrite(
  work: Work,
  client: ClientConnection,
  order?: CommitOrder,
  finish?: Finish,
): Promise<WriteResult> {
  const store = { ...storeOf(work.resource), client, commitOrder: order }
  return withProblems({ store, plan: work.plan }, async () => {
    if (work.nestedWrites !== undefined || work.items !== undefined) await preauthorize(store, work)
    return await executeWithScopes(store, work, finish)
  })
}

/** Executes a write at most once per idempotency key, and stores the reply as an idempotency record. */
export async function performIdempotentWork(
  work: Work,
  client: ClientConnection,
  {
    idempotency,
    made,
    toStored,
    order,
    finish,
  }: {
    readonly idempotency: IdempotencyRequest
    readonly made: (done: WriteResult) => Reply
    /** Returns the reply that is stored for replays. */
    readonly toStored: (done: WriteResult, reply: Reply) => Reply
    readonly order: CommitOrder | undefined
    readonly finish: Finish | undefined
  },
): Promise<IdempotentResult> {
  const store = { ...storeOf(work.resource), client, commitOrder: order }
  return withProblems({ store, plan: work.plan }, async () => {
    await preauthorize(store, work)
    const write = async (inside: StatementContext) => {
      const done = await executeWithScopes(inside, work, finish)
      const reply = made(done)
      return { done, reply, stored: toStored(done, reply) }
    }
    return writeIdempotently(store, work.plan, idempotency, write, work.policyChecks)
  })
}

/**
 * Runs authorization and writes in one transaction. Host code finds the transaction through continuation-local storage.
 * `work` reports each plan, so that a failed COMMIT becomes the Problem of the last plan.
 */
export async function performInRequest<T>(
  resource: Resource,
  client: ClientConnection,
  work: (planned: (plan: Plan) => void) => Promise<T>,
): Promise<T> {
  const store = { ...storeOf(resource), client }
  let last: Plan | null = null
  const notePlan = (plan: Plan): void => {
    last = plan
  }
  assertPoolCapacity(store)
  try {
    // Policies read first. The write, and the conditions of scopes, need what other transactions commit afterwards.
    return await inTransaction(store, () => work(notePlan), { isRepeatable: false, readsCommitted: true })
  } catch (error) {
    throw await translateError(error, store, last)
  }
}

/** A transaction that reads records before it changes them. READ COMMITTED returns the latest committed values. */
const READS_FIRST = { isRepeatable: true, readsCommitted: true } as const

async function executeWithScopes(store: StatementContext, work: Work, finish?: Finish): Promise<WriteResult> {
  if (work.refusal !== undefined) throw work.refusal
  if (isScoped(work)) return writeWithinScopes(store, (inside) => executeAndFinish(inside, work, finish))
  if (!isTracked(work)) return executeAndFinish(store, work, finish)
  return inTransaction(store, (transaction) => executeAndFinish({ ...store, transaction }, work, finish), READS_FIRST)
}

async function executeAndFinish(store: StatementContext, work: Work, finish?: Finish): Promise<WriteResult> {
  const { nestedWrites = [], items = [] } = work
  if (nestedWrites.length + items.length > 0) return executeNested(store, work, finish)
  if (finish !== undefined) {
    return inTransaction(store, async (transaction) => {
      const done = await executeAndFinish({ ...store, transaction }, work)
      await finish(done, transaction)
      return done
    })
  }
  const outcome = await executePlan(store, work)
  if (store.transaction !== undefined) store.commitOrder?.noteWrite(work, outcome)
  return { work, outcome, nested: [], parts: [] }
}

async function executeNested(store: StatementContext, work: Work, finish?: Finish): Promise<WriteResult> {
  const { plan, nestedWrites = [] } = work
  // Bodies of new records are validated before the transaction starts.
  if (plan.kind !== 'update' && plan.kind !== 'get' && hasWorkErrors(work)) {
    const errors = await withWriteTimeout(store, () => errorsOfWorks(store, [work]))
    throw problem('validation', { errors: { ...errors, ...(await collectMissingKeys(store, nestedWrites)) } })
  }
  const { commitOrder } = store
  // A transaction that only creates records keeps the database's isolation level, which needs a statement less.
  const how = plan.kind === 'create' || plan.kind === 'bulkCreate' ? undefined : READS_FIRST
  const executePart: typeof executePlan = async (inside, part) => {
    const outcome = await executePlan({ ...inside, commitOrder }, part)
    commitOrder?.noteWrite(part, outcome)
    return outcome
  }
  try {
    const write = async (transaction: Transaction): Promise<WriteResult> => {
      const done = await executeWork({ ...store, transaction }, work, executePart)
      await finish?.(done, transaction)
      return done
    }
    return await inTransaction(store, write, how)
  } catch (error) {
    throw await addAllErrors(error, store, work, (works) => collectMissingKeys(store, nestedWritesOfNew(works)))
  }
}

/**
 * Rejects the request if too many requests wait for a connection. A joined transaction already has a connection, and
 * SQLite has no pool.
 */
function assertPoolCapacity(store: StatementContext): void {
  if (store.dialect.queuesWrites) return
  const limit = store.resource.limits.waiting
  const waiting = countWaiting(store.sequelize)
  if (waiting >= limit && !isInTransaction(store)) throw poolFullProblem(waiting, limit)
}

/** Runs `work` and converts database errors into Problems of the write that caused them. */
async function withProblems<T>(
  whole: { readonly store: StatementContext; readonly plan: Plan },
  work: () => Promise<T>,
): Promise<T> {
  if (currentCause() !== undefined) traceQueries(whole.store.sequelize)
  assertPoolCapacity(whole.store)
  try {
    const reading = ensureColumnTypes(whole.store)
    if (reading !== null) await waitForShared(whole.store.sequelize, reading)
    return await work()
  } catch (error) {
    const { store, plan } = attributionOf(error) ?? whole
    throw await translateError(error, store, plan, plan === whole.plan || isCreation(whole.plan))
  }
}

/** Whether a plan only creates records. Its nested writes delete no records either. */
function isCreation({ kind }: Plan): boolean {
  return kind === 'create' || kind === 'bulkCreate'
}

/**
 * Returns the Problem for a failure, or the error itself if the error is unexpected. `isOnlyWrite` is false if the
 * request may have freed unique values before the failed write.
 */
async function translateError(
  error: unknown,
  store: StatementContext,
  plan: Plan | null,
  isOnlyWrite = true,
): Promise<unknown> {
  // A Problem is sent as it is, whatever code threw it.
  if (error instanceof Problem) return error
  // Without a plan only a temporary failure of the database is expected. Any other error comes from the host's code.
  if (plan === null) {
    const passing = transientProblem(error, store.resource)
    return passing === null ? error : Object.assign(passing, { cause: error })
  }
  const own = storeOf(store.resource)
  const known =
    (await foreignKeyProblem(error, own, plan)) ??
    (isOnlyWrite ? await uniqueProblem(error, own, plan) : null) ??
    failureProblem(error, store.resource, plan)
  if (known === null) forgetColumnTypes(store.model)
  // The cause is passed to `onError` and is not part of the response.
  return known === null
    ? (missingIndexError(error, store.resource) ?? oversizedScopeError(error, store.resource, plan) ?? error)
    : Object.assign(known, { cause: error })
}

async function executePlan(store: StatementContext, work: Work): Promise<Outcome> {
  const { plan, resource } = work
  const before = requestHistoryOf(store)
  const noting = noteStateBefore(store, plan)
  if (noting !== null) await noting
  const outcome = await visit(PLAN_EXECUTIONS, plan, store, work)
  before?.noteWrite(resource, plan, outcome)
  return completeOutcome(store, plan, outcome)
}

/** Adds the embedded collections, if any, to an outcome. */
async function completeOutcome(store: StatementContext, plan: Plan, outcome: Outcome): Promise<Outcome> {
  if (!('projection' in plan) || plan.projection.embeds === undefined) return outcome
  const { projection } = plan
  const size = new ResponseSize(store.resource.limits.responseBytes)
  if (outcome.kind === 'record') {
    const [row = outcome.row] = await addCollections(store, projection, [outcome.row], size)
    return { ...outcome, row }
  }
  return 'rows' in outcome && outcome.kind !== 'deleted'
    ? { ...outcome, rows: await addCollections(store, projection, outcome.rows, size) }
    : outcome
}

/** Executes each kind of plan. Foreign keys in bodies are checked before the write. */
const PLAN_EXECUTIONS: Visitors<Plan, [store: StatementContext, work: Work], Promise<Outcome>> = {
  get: (plan, store) =>
    withKeySpelling(store, plan, async (one) => {
      const row = await readRecord(store, one)
      if (row === null) throw problem('not-found')
      return { kind: 'record', row }
    }),
  page: (plan, store) => selectPage(store, plan),
  count: (plan, store) => selectCount(store, plan),
  keyset: (plan, store) => selectKeysetPage(store, plan),
  seek: (plan, store) => selectSeekPage(store, plan),
  aggregate: (plan, store) => selectGroups(store, plan),
  export: (plan, store) => exportRecords(store, plan),
  action: (plan, store) => performAction(store, plan),
  create: async (plan, store, work) =>
    (await reviveDeleted(store, plan, (one) => executeUpdate(one, store, work))) ?? executeCreate(plan, store, work),
  update: executeUpdate,
  restore: (plan, store) => withKeySpelling(store, plan, (one) => withLockedRecord(store, one, executeWrite)),
  delete: (plan, store) => withKeySpelling(store, plan, (one) => withLockedRecord(store, one, executeWrite)),
  bulkCreate: executeCreate,
  bulkDelete: (plan, store) => withKeySpellings(store, plan, (some) => withLockedRecords(store, some, executeWrite)),
  replace: (plan, store, work) => performReplace(store, plan, createPartWriter(work)),
  upsert: (plan, store, work) => performUpsert(store, plan, createPartWriter(work)),
  bulkUpdate: (plan, store, work) =>
    performBulkUpdateTogether(store, plan, createPartWriter(work), (within, items) =>
      updateTogether(within, items, work.foreignKeyChecks),
    ),
}

function executeUpdate(
  plan: UpdatePlan,
  store: StatementContext,
  { resource, foreignKeyChecks }: Work,
): Promise<Outcome> {
  return withKeySpelling(store, plan, (one) =>
    withLockedRecord(store, one, async (inside, own) => {
      await assertWithinScope(inside, own)
      return writeWithForeignKeyChecks(inside, { resource, plan: own, foreignKeyChecks }, executeWrite)
    }),
  )
}

/**
 * Runs all checks of new records before the INSERT. An invalid plan skips the scope check, because the write reports
 * invalid values first.
 */
async function executeCreate(
  plan: CreatePlan | BulkCreatePlan,
  store: StatementContext,
  { resource, foreignKeyChecks }: Work,
): Promise<Outcome> {
  const isInvalid = plan.kind === 'create' ? plan.invalid !== null : plan.invalid.size > 0
  if (!isInvalid) await assertWithinScope(store, plan)
  return writeWithForeignKeyChecks(store, { resource, plan, foreignKeyChecks }, (inside, met) =>
    assertNewKeys(inside, met).then(() => executeWrite(inside, met)),
  )
}

/** Returns a function that executes one item of a batch. */
function createPartWriter({ resource, foreignKeyChecks }: Work): ItemWriter {
  return (within, part) => executePlan(within, { resource, plan: part, foreignKeyChecks })
}

/**
 * Executes several updates with one statement. Returns null if an update has a foreign key to check or embeds records.
 */
async function updateTogether(
  store: StatementContext,
  items: readonly ItemPlan[],
  foreignKeyChecks: Work['foreignKeyChecks'],
): Promise<readonly Outcome[] | null> {
  const plans = items.filter((item) => item.kind !== 'create')
  const isPlain = plans.every((plan) => {
    const hasForeignKey = foreignKeyChecks.some(({ field }) => plan.changes.has(field.name))
    return !hasForeignKey && plan.projection.embeds === undefined
  })
  return isPlain && plans.length === items.length ? tryUpdateTogether(store, plans) : null
}

/** Reads a written record from the primary. Returns null if the record is missing or hidden by the model. */
export function readWrittenRecord(resource: Resource, where: Predicate, projection: Projection): Promise<Row | null> {
  return readRecord(storeOf(resource), { where, projection }, { isFromPrimary: true })
}

/** Whether the model may hide records from reads. */
export function canHideRecords({ model }: Resource): boolean {
  return hasFindHooks(model) || hasScope(model)
}

/** Returns the pending commit of a write that is made now. The commit never happens if the write is rolled back. */
export function commitOf(resource: Resource): PendingCommit {
  return commitIn(storeOf(resource))
}

export { isCheckNeeded } from './foreignKeyChecks.js'
export { type IdempotentResult, queueDuplicates } from './idempotency.js'
export { buildHostOptions } from './instances/find.js'
export { buildGroupOptions } from './instances/groups.js'
export { buildKeysetPredicate, traversalOrderOf } from './nullPartitions.js'
export { evaluateConditions } from './scoped/evaluate.js'
export { ensureColumnTypes, type StatementContext, storeOf } from './store.js'
