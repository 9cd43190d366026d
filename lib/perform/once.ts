import type { Transaction } from 'sequelize'
import type { Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Ticket } from '../../types/resource.js'
import type { Asked, Done, Hearing } from '../../types/work.js'
import { type Problem, problem } from '../common/problem.js'
import { failureOf } from '../sequelize/failure.js'
import { expiredPlaces, findKept, keepReply, removeKept, takePlace } from '../sequelize/keptReplies.js'
import { ambientTransaction, whenCommitted } from '../sequelize/transaction.js'
import { type Store, storeOf, within } from './store.js'
import { alone, inTransaction, markRaced } from './transaction.js'

/** Settings of an idempotent write. */
export interface Manner {
  readonly hearing: Hearing | undefined
  /** Whether each statement sees what others committed before it. */
  readonly seesCommitted: boolean
}

/** The reply of a write, new or replayed. */
export interface Once {
  readonly reply: Reply
  /** null for a replayed reply. */
  readonly done: Done | null
  /** Permissions that were checked for a replayed reply. They are checked again. */
  readonly asked: Asked
}

/**
 * Runs a write that has not run yet, and stores its reply in the same transaction. The key is inserted first, so that a
 * duplicate request in another process waits for the end of this one.
 * @throws Problem 422 if another request has used the key
 */
export async function once(
  store: Store,
  plan: Plan,
  ticket: Ticket,
  write: (store: Store) => Promise<Pick<Once, 'reply' | 'done'> & { readonly kept: Reply }>,
  { hearing, seesCommitted }: Manner,
): Promise<Once> {
  const model = modelOf(store)
  const { id, fingerprint, expires: expiresAt } = ticket
  const writeOnce = async (transaction: Transaction): Promise<Once> => {
    const kept = await findKept(model, id, new Date(), transaction)
    if (kept !== null && !kept.isExpired) return { ...again(kept, ticket, plan), done: null }
    if (kept !== null) await removeKept(model, [id], transaction)
    await takePlace(model, { id, fingerprint, expiresAt }, transaction).catch((error: unknown) => {
      // A duplicate was faster. The next attempt finds its reply.
      throw failureOf(error, store.dialect) === 'unique' ? markRaced(inProgress()) : error
    })
    const { reply, done, kept: replayed } = await write(within(store, transaction))
    const told: Kept = { ...replayed, asked: hearing?.asked() ?? [] }
    await keepReply(model, id, JSON.stringify(told), transaction)
    return { reply, done, asked: [] }
  }
  const came = await inTransaction(store, writeOnce, { isRepeatable: true, seesCommitted })
  if (came.done !== null) sweep(store)
  return came
}

function modelOf({ resource: { keptIn, name } }: Store): ReturnType<NonNullable<Store['resource']['keptIn']>> {
  if (keptIn === null) throw new TypeError(`${name} has no table for idempotency records`)
  return keptIn()
}

/** A reply as it is stored. */
interface Kept extends Reply {
  readonly asked: Asked
}

function again(
  kept: { readonly fingerprint: string; readonly reply: string | null },
  ticket: Ticket,
  plan: Plan,
): Pick<Once, 'reply' | 'asked'> {
  if (kept.fingerprint !== ticket.fingerprint) {
    throw problem('idempotency-mismatch', {
      detail: 'Another request has used this Idempotency-Key. Send a new key with each write.',
    })
  }
  if (kept.reply === null) throw inProgress()
  const { asked, ...reply }: Kept = JSON.parse(kept.reply)
  // The first request passed the policy of creation, so a replay must as well.
  const refusal = plan.kind === 'replace' && reply.status === 201 ? plan.create?.refusal : undefined
  if (refusal !== undefined) throw refusal
  return { reply: { ...reply, headers: { ...reply.headers, 'Idempotency-Replayed': 'true' } }, asked }
}

function inProgress(): Problem {
  return problem('idempotency-in-progress', {
    detail: 'A request with this Idempotency-Key is still running. Send it again later.',
    headers: { 'Retry-After': '1' },
  })
}

/** A running write, and whether a duplicate waits for it. */
interface Running {
  hasTwin: boolean
  readonly end: Promise<unknown>
}

const running = new Map<string, Running>()

/**
 * Runs a write. One duplicate may wait for its end.
 * @throws Problem 409 for further duplicates
 */
export async function inLine<T>({ id }: Ticket, write: () => Promise<T>): Promise<T> {
  for (let first = running.get(id); first !== undefined; first = running.get(id)) {
    if (first.hasTwin) throw inProgress()
    first.hasTwin = true
    await first.end
  }
  const mine = write()
  running.set(id, { hasTwin: false, end: mine.catch(() => undefined) })
  try {
    return await mine
  } finally {
    running.delete(id)
  }
}

/** Number of expired records that are removed at a time, and the number of writes between two removals. */
const SWEPT = 50
const EVERY = 10

let writes = 0

/** Removes some expired records after a write. Errors are ignored: a later write repeats the removal. */
function sweep(store: Store): void {
  writes += 1
  if (writes % EVERY !== 0 || store.transaction !== undefined) return
  // A new store, because the client's disconnect must not stop the removal.
  const remove = (): void => void removeSome(storeOf(store.resource)).catch(() => undefined)
  const ambient = ambientTransaction(store.sequelize)
  if (ambient === undefined) remove()
  // The host's transaction must not wait for the removal.
  else if (store.resource.isTransactional) whenCommitted(ambient, remove)
}

async function removeSome(store: Store): Promise<void> {
  const model = modelOf(store)
  const ids = await expiredPlaces(model, new Date(), SWEPT)
  if (ids.length > 0) await alone(store, (transaction) => removeKept(model, ids, transaction))
}
