import type { Sequelize, Transaction } from 'sequelize'
import type { Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { IdempotencyRequest, Resource } from '../../types/resource.js'
import type { PassedPolicies, PolicyChecks, WriteResult } from '../../types/work.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { internalError } from '../common/internalError.js'
import { type Problem, problem } from '../common/problem.js'
import { classifyFailure } from '../sequelize/failure.js'
import {
  deleteExpiredRecords,
  findExpiredRecords,
  findIdempotencyRecord,
  insertIdempotencyRecord,
  storeReply,
} from '../sequelize/idempotencyRecords.js'
import { sequelizeOf } from '../sequelize/internals.js'
import { ambientTransaction, runWhenCommitted } from '../sequelize/transaction.js'
import { type StatementContext, storeOf } from './store.js'
import { inRefusableTransaction, markRaced, runSingleStatement } from './transaction.js'

/** The reply of a write, new or replayed. */
export interface IdempotentResult {
  readonly reply: Reply
  /** null for a replayed reply. */
  readonly done: WriteResult | null
  /** Permissions that the original request of a replayed reply passed. The caller checks these permissions again. */
  readonly passedPolicies: PassedPolicies
}

/**
 * Runs a write and stores its reply in the same transaction, or replays the reply of an earlier run. The key is
 * inserted first, so that a duplicate request in another process waits until this transaction ends.
 * @throws Problem 422 if another request has used the key
 */
export async function writeIdempotently(
  store: StatementContext,
  plan: Plan,
  idempotency: IdempotencyRequest,
  write: (store: StatementContext) => Promise<Pick<IdempotentResult, 'reply' | 'done'> & { readonly stored: Reply }>,
  policyChecks: PolicyChecks | undefined,
): Promise<IdempotentResult> {
  const model = requireIdempotencyModel(store)
  const { id, fingerprint, expires: expiresAt } = idempotency
  const writeOnce = async (transaction: Transaction): Promise<IdempotentResult> => {
    const now = new Date()
    const record = await findIdempotencyRecord(model, id, now, transaction)
    if (record !== null && !record.isExpired) return { ...replayReply(record, idempotency, plan), done: null }
    if (record !== null) await deleteExpiredRecords(model, [id], now, transaction)
    await insertIdempotencyRecord(model, { id, fingerprint, expiresAt }, transaction).catch((error: unknown) => {
      // A duplicate request inserted the key first. The next attempt finds the stored reply.
      throw classifyFailure(error, store.dialect) === 'unique' ? markRaced(inProgressProblem()) : error
    })
    const { reply, done, stored: replayed } = await write({ ...store, transaction })
    const stored: StoredReply = { ...replayed, asked: policyChecks?.passed() ?? [] }
    await storeReply(model, id, JSON.stringify(stored), transaction)
    return { reply, done, passedPolicies: [] }
  }
  // Repeatable read would show all records as of the first statement, which looks for a stored reply.
  const came = await inRefusableTransaction(store, writeOnce, { isRepeatable: true, readsCommitted: true })
  if (came.done !== null) cleanUp(store)
  return came
}

function requireIdempotencyModel({
  resource: { idempotencyModel, name },
}: StatementContext): ReturnType<NonNullable<StatementContext['resource']['idempotencyModel']>> {
  if (idempotencyModel === null) throw internalError(`${name} has no table for the records of Idempotency-Key`)
  return idempotencyModel()
}

/** Reply in an idempotency record, with the permissions that its request passed. */
interface StoredReply extends Reply {
  readonly asked: PassedPolicies
}

function replayReply(
  record: { readonly fingerprint: string; readonly reply: string | null },
  idempotency: IdempotencyRequest,
  plan: Plan,
): Pick<IdempotentResult, 'reply' | 'passedPolicies'> {
  if (record.fingerprint !== idempotency.fingerprint) {
    throw problem('idempotency-mismatch', {
      detail: 'Another request has used this Idempotency-Key. Send a new key with each write.',
    })
  }
  if (record.reply === null) throw inProgressProblem()
  const { asked, ...reply }: StoredReply = JSON.parse(record.reply)
  // The original request needed the permission to create, so a replay needs this permission too.
  const refusal = plan.kind === 'replace' && reply.status === 201 ? plan.create?.policyError : undefined
  if (refusal !== undefined) throw refusal
  return { reply: { ...reply, headers: { ...reply.headers, 'Idempotency-Replayed': 'true' } }, passedPolicies: asked }
}

function inProgressProblem(): Problem {
  return problem('idempotency-in-progress', {
    detail: 'A request with this Idempotency-Key is still running. Send it again later.',
    headers: { 'Retry-After': '1' },
  })
}

/** A running write, and whether a duplicate waits for it. */
interface RunningWrite {
  hasDuplicate: boolean
  readonly end: Promise<unknown>
}

/** Running writes by their key. Another database of this process has writes of its own. */
const runningBySequelize = new WeakMap<Sequelize, Map<string, RunningWrite>>()

/**
 * Runs a write, after a running write with the same key has ended. At most one duplicate waits.
 * @throws Problem 409 for further duplicates
 */
export async function queueDuplicates<T>(
  { model }: Resource,
  { id }: IdempotencyRequest,
  write: () => Promise<T>,
): Promise<T> {
  const runningWrites = getOrCreate(runningBySequelize, sequelizeOf(model), () => new Map<string, RunningWrite>())
  for (let first = runningWrites.get(id); first !== undefined; first = runningWrites.get(id)) {
    if (first.hasDuplicate) throw inProgressProblem()
    first.hasDuplicate = true
    await first.end
  }
  const mine = write()
  runningWrites.set(id, { hasDuplicate: false, end: mine.catch(() => undefined) })
  try {
    return await mine
  } finally {
    runningWrites.delete(id)
  }
}

/** Number of expired records that are removed at a time, and the number of writes between two removals. */
const CLEANUP_SIZE = 50
const CLEANUP_INTERVAL = 10

let writeCount = 0

/** Removes some expired records after a write. Ignores errors, because a later write repeats the removal. */
function cleanUp(store: StatementContext): void {
  writeCount += 1
  if (writeCount % CLEANUP_INTERVAL !== 0 || store.transaction !== undefined) return
  // A new store, because the client's disconnect must not stop the removal.
  const startRemoval = (): void => void removeExpired(storeOf(store.resource)).catch(() => undefined)
  const ambient = ambientTransaction(store.sequelize)
  if (ambient === undefined) startRemoval()
  // The host's transaction must not wait for the removal.
  else if (store.resource.isTransactional) runWhenCommitted(ambient, startRemoval)
}

async function removeExpired(store: StatementContext): Promise<void> {
  const model = requireIdempotencyModel(store)
  const now = new Date()
  const ids = await findExpiredRecords(model, now, CLEANUP_SIZE)
  if (ids.length > 0)
    await runSingleStatement(store, (transaction) => deleteExpiredRecords(model, ids, now, transaction))
}
