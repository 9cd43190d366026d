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
  /** Whether each statement sees what others have committed before it, on databases that keep what the first one saw; absent for no. */
  readonly seesCommitted?: boolean
}

/**
 * A write of several statements, or with hooks: all of it or nothing. What conflicts with other writes is tried again if it is repeatable.
 *
 * @throws Problem where its time is over, or too many are waiting
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
 * A write of one statement without hooks, which needs no transaction of its own. Where another connection may not find its server, it has one:
 * the end of the connection then undoes a statement that nobody can end.
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

/** Something of a write that holds nothing which is ours to let go of. */
export async function limited<T>({ resource, transaction }: Store, work: () => Promise<T>): Promise<T> {
  // Who began that one looks at the clock.
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

/** Whether a write is part of a transaction that others end. */
export function isJoined(store: Store): boolean {
  return joinedBy(store) !== undefined
}

/** The transaction that a write is part of: of several writes, or the host's. */
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
    // What hangs or fails behind the COMMIT does not undo it.
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

/** Whether this is what came of a write of one plan. */
function isOutcome(result: unknown): result is Outcome {
  return isObject(result) && typeof result.kind === 'string' && Object.hasOwn(OUTCOMES, result.kind)
}

/** The kinds of outcomes of writes. */
const OUTCOMES = { record: 0, records: 0, parts: 0, deleted: 0, acted: 0 } satisfies { [kind in Outcome['kind']]?: 0 }

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
  /** Whether the host has rolled it back meanwhile. */
  readonly gaveUp: () => boolean
  /** Does something once the write is committed: now, where it has been by itself; something else where the COMMIT fails. */
  readonly follow: (work: () => void, failed?: () => void) => void
}

/** The commit that a write made now will have. Behind the write it is too late to ask: the host may have given up. */
export function commitOf({ sequelize }: Store): Commit {
  const ambient = ambientTransaction(sequelize)
  return {
    isHosts: ambient !== undefined,
    gaveUp: () => ambient !== undefined && isRolledBack(ambient),
    follow: (work, failed) => (ambient === undefined ? work() : whenCommitted(ambient, work, failed)),
  }
}

/** The number of attempts at a write that found no record because somebody made one meanwhile. */
const RACES = 3

/** By the failure of an attempt, the number of attempts. */
const raced = new WeakMap<object, number>()

/** Marks the failure of a write that would find the record which another one has just made. */
export function markRaced(error: unknown, attempts: number = RACES): unknown {
  if (typeof error === 'object' && error !== null) raced.set(error, attempts)
  return error
}

/** The number of attempts that a failure allows; 0 for failures that another attempt would not mend. */
function attemptsFor(error: unknown): number {
  if (isOutdated(error)) return RACES
  return typeof error === 'object' && error !== null ? (raced.get(error) ?? 0) : 0
}

/** Does such a write again, all that it does with it; within a transaction whoever began that one does. */
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

/** Does a write in its turn where writes wait for each other. */
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
