import { type Sequelize, Transaction } from 'sequelize'
import { isDeadlock } from './failure.js'
import { ambientTransaction, whenCommitted } from './sequelize.js'
import type { Store } from './store.js'

const queues = new WeakMap<Sequelize, Promise<unknown>>()

/** Runs one after the other what is given for the same Sequelize instance. */
function queued<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  const before = queues.get(sequelize) ?? Promise.resolve()
  const mine = before.then(work, work)
  // The queue must go on after a failure, and the failure belongs to whoever waits for `mine`.
  queues.set(
    sequelize,
    mine.catch(() => undefined),
  )
  return mine
}

/** A write of several statements, or with hooks: all of it or nothing. A deadlock is tried once more. */
export async function inTransaction<T>(
  { sequelize, dialect }: Store,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const ambient = ambientTransaction(sequelize)
  // The host's own transaction holds the lock that the others in the queue would wait for.
  if (ambient !== undefined) return work(ambient)
  const options = dialect.queuesWrites ? { type: Transaction.TYPES.IMMEDIATE } : {}
  return attempt(sequelize, dialect.queuesWrites, () => sequelize.transaction(options, work))
}

/** A write of one statement without hooks, which needs no transaction of its own. */
export async function alone<T>(
  { sequelize, dialect }: Store,
  work: (transaction: Transaction | undefined) => Promise<T>,
): Promise<T> {
  const ambient = ambientTransaction(sequelize)
  if (ambient !== undefined) return work(ambient)
  return attempt(sequelize, dialect.queuesWrites, () => work(undefined))
}

/**
 * What the first attempt works on, made anew for a second one: an instance that was saved once takes itself for
 * stored, although its transaction was rolled back.
 */
export function renewed<T>(first: T, make: () => T): () => T {
  let isUsed = false
  return () => {
    if (isUsed) return make()
    isUsed = true
    return first
  }
}

/** The end of a write. */
export interface Commit {
  /** Whether it is that of the host's own transaction around the write, savepoints and all. */
  readonly isHosts: boolean
  /** Does something once the write is committed: now, where it has been by itself. */
  readonly follow: (work: () => void) => void
}

/** The commit that a write made now will have. Behind the write it is too late to ask: the host may have given up. */
export function commitOf({ sequelize }: Store): Commit {
  const ambient = ambientTransaction(sequelize)
  return {
    isHosts: ambient !== undefined,
    follow: (work) => (ambient === undefined ? work() : whenCommitted(ambient, work)),
  }
}

async function attempt<T>(sequelize: Sequelize, queues: boolean, work: () => Promise<T>): Promise<T> {
  const once = (): Promise<T> => (queues ? queued(sequelize, work) : work())
  try {
    return await once()
  } catch (error) {
    if (!isDeadlock(error)) throw error
    return once()
  }
}
