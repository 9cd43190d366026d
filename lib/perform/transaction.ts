import type { Sequelize, Transaction } from 'sequelize'
import type { Outcome } from '../../types/outcome.js'
import { left } from '../common/leaving.js'
import { isObject } from '../common/object.js'
import { report } from '../common/report.js'
import { isMisplaced } from '../sequelize/failure.js'
import { isOutdated } from '../sequelize/named.js'
import { isSpread } from '../sequelize/seats.js'
import { checkTransaction } from '../sequelize/session.js'
import { ambientTransaction, inContext, isRolledBack, whenCommitted } from '../sequelize/transaction.js'
import { LoneStatement, WriteTransaction } from '../sequelize/writeRun.js'
import { isDeadlock } from './failure.js'
import { WriteQueue } from './queue.js'
import type { Store } from './store.js'
import { tooLate, WriteTime } from './time.js'

interface Manner {
  readonly isRepeatable: boolean
  /** Whether each statement sees newer commits, on databases whose transactions read a snapshot. Default false. */
  readonly seesCommitted?: boolean
}

/**
 * Runs a write in a transaction. If it conflicts with other writes and `isRepeatable` is true, it is repeated.
 * @throws Problem if the write timeout is exceeded, or the write queue is full
 */
export async function inTransaction<T>(
  store: Store,
  work: (transaction: Transaction) => Promise<T>,
  how: Manner = { isRepeatable: true },
): Promise<T> {
  const joined = joinedBy(store)
  if (joined !== undefined) {
    return limited(store, async () => {
      await checkTransaction(store.sequelize, joined)
      return work(joined)
    })
  }
  const write = (time: WriteTime): Promise<T> => {
    const transaction = new WriteTransaction(store, how.seesCommitted)
    return inContext(store.sequelize, () => carryOut(transaction, time, work, store))
  }
  return attempt(store, write, how)
}

/**
 * Runs a write of one statement without hooks, outside a transaction. If connections may lead to different servers, a
 * transaction is used: closing its connection undoes a statement that cannot be cancelled.
 */
export function alone<T>(store: Store, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const joined = joinedBy(store)
  if (joined !== undefined) return limited(store, () => work(joined))
  return attempt(store, async (time) => {
    const statement = isSpread(store.sequelize) ? null : new LoneStatement(store)
    await statement?.take()
    if (statement === null || isSpread(store.sequelize)) {
      statement?.release()
      const transaction = new WriteTransaction(store)
      return inContext(store.sequelize, () => carryOut(transaction, time, work, store))
    }
    store.order?.alone()
    if (store.leaving?.isLeft) {
      statement.release()
      throw left()
    }
    const watch = time.watch((pending) => statement.giveUp(pending))
    try {
      return await watch.settle(work(statement))
    } catch (error) {
      if (isMisplaced(error, store.dialect)) statement.spoil()
      throw watch.isOver ? tooLate(error) : error
    } finally {
      watch.clear()
      statement.release()
    }
  })
}

/** Applies the write timeout to a part of a write that holds no connection. */
export async function limited<T>({ resource, transaction }: Store, work: () => Promise<T>): Promise<T> {
  // The timeout of the transaction already applies.
  if (transaction !== undefined) return work()
  const watch = new WriteTime(resource.limits.writeTime).watch(async () => undefined)
  try {
    return await watch.race(work())
  } catch (error) {
    throw watch.isOver ? tooLate(error) : error
  } finally {
    watch.clear()
  }
}

/** Whether the write runs inside a transaction that other code ends. */
export function isJoined(store: Store): boolean {
  return joinedBy(store) !== undefined
}

/** The transaction that a write joins: that of several writes, or the host's. */
export function joinedBy({ transaction, sequelize }: Store): Transaction | undefined {
  return transaction ?? ambientTransaction(sequelize)
}

async function carryOut<T>(
  transaction: WriteTransaction,
  time: WriteTime,
  work: (transaction: Transaction) => Promise<T>,
  { resource, leaving, order, dialect }: Store,
): Promise<T> {
  await transaction.take()
  if (leaving?.isLeft) {
    transaction.leave()
    throw left()
  }
  const watch = time.watch((pending) => transaction.giveUp(pending))
  try {
    order?.begin()
    await watch.race(transaction.start())
    const result = await watch.race(work(transaction))
    order?.committing(isOutcome(result) ? result : null)
    const committed = transaction.commit()
    // A failure or timeout after the COMMIT does not undo it.
    await watch.settle(committed).catch((error: unknown) => {
      if (!transaction.isCommitted) throw error
      if (!watch.isOver && leaving !== undefined) report(error, leaving.request, resource.onError)
    })
    return result
  } catch (error) {
    if (isMisplaced(error, dialect)) transaction.spoil()
    if (watch.isOver) throw tooLate(error)
    if (transaction.finished === undefined) await watch.settle(transaction.rollback()).catch(() => undefined)
    throw error
  } finally {
    watch.clear()
  }
}

/** Whether the value is the outcome of a single plan. */
function isOutcome(result: unknown): result is Outcome {
  return isObject(result) && typeof result.kind === 'string' && Object.hasOwn(OUTCOMES, result.kind)
}

/** Kinds of outcomes of writes. */
const OUTCOMES = { record: 0, records: 0, parts: 0, deleted: 0, acted: 0 } satisfies { [kind in Outcome['kind']]?: 0 }

/**
 * Returns the given value for the first attempt and a new one for later attempts. An instance that was saved once
 * considers itself stored, even after a rollback.
 */
export function renewed<T>(first: T, make: () => T): () => T {
  let isUsed = false
  return () => {
    if (isUsed) return make()
    isUsed = true
    return first
  }
}

/** The commit of a write. */
export interface Commit {
  /** Whether the host's own transaction contains the write, possibly in savepoints. */
  readonly isHosts: boolean
  /** Whether the host has rolled back its transaction. */
  readonly gaveUp: () => boolean
  /** Calls `work` after the commit: at once if the write has committed already. Calls `failed` if the COMMIT fails. */
  readonly follow: (work: () => void, failed?: () => void) => void
}

/** The commit of a write that is made now. Call it before the write ends, because the host may roll back. */
export function commitOf({ sequelize }: Store): Commit {
  const ambient = ambientTransaction(sequelize)
  return {
    isHosts: ambient !== undefined,
    gaveUp: () => ambient !== undefined && isRolledBack(ambient),
    follow: (work, failed) => (ambient === undefined ? work() : whenCommitted(ambient, work, failed)),
  }
}

/** Number of attempts at a write whose record was created meanwhile. */
const RACES = 3

/** Number of attempts that an error allows. */
const raced = new WeakMap<object, number>()

/** Marks an error after which a repeated write would find the record that was created meanwhile. */
export function markRaced(error: unknown, attempts: number = RACES): unknown {
  if (typeof error === 'object' && error !== null) raced.set(error, attempts)
  return error
}

/** Number of attempts that an error allows, or 0 if repeating is useless. */
function attemptsFor(error: unknown): number {
  if (isOutdated(error)) return RACES
  return typeof error === 'object' && error !== null ? (raced.get(error) ?? 0) : 0
}

/** Repeats a write after a marked error. Inside a transaction the transaction's owner repeats it. */
export async function racing<T>(store: Store, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries >= attemptsFor(error) || joinedBy(store) !== undefined) throw error
    }
  }
}

const queues = new WeakMap<Sequelize, WriteQueue>()

function queueOf(sequelize: Sequelize): WriteQueue {
  const known = queues.get(sequelize)
  if (known !== undefined) return known
  const created = new WriteQueue()
  queues.set(sequelize, created)
  return created
}

/** Runs a write, in the write queue on SQLite, and repeats it after conflicts. */
async function attempt<T>(
  { sequelize, dialect, leaving, resource: { limits } }: Store,
  work: (time: WriteTime) => Promise<T>,
  { isRepeatable }: Manner = { isRepeatable: true },
): Promise<T> {
  const time = new WriteTime(limits.writeTime)
  const mine = (): Promise<T> => {
    if (leaving?.isLeft) throw left()
    return work(time)
  }
  const once = (): Promise<T> => (dialect.queuesWrites ? queueOf(sequelize).run(limits.writeQueue, mine) : work(time))
  for (let tries = 1; ; tries += 1) {
    try {
      return await once()
    } catch (error) {
      if (!isRepeatable) throw error
      const isConflict = isDeadlock(error, dialect)
      if (tries >= (isConflict ? limits.retries + 1 : attemptsFor(error))) throw error
      if (isConflict && !(await time.pause(tries))) throw error
    }
  }
}
