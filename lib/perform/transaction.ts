import type { Sequelize, Transaction } from 'sequelize'
import type { Outcome } from '../../types/outcome.js'
import { createDisconnectError } from '../common/disconnect.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { isObject } from '../common/object.js'
import { isRefusal } from '../common/problem.js'
import { reportError } from '../common/report.js'
import { isWrongServer } from '../sequelize/failure.js'
import { isOutdatedError } from '../sequelize/namedStatements.js'
import { hasSeveralServers } from '../sequelize/serverSides.js'
import { checkTransaction } from '../sequelize/session.js'
import {
  ambientTransaction,
  isTransactionRolledBack,
  runInContext,
  runInSavepoint,
  runWhenCommitted,
} from '../sequelize/transaction.js'
import { LoneStatement, WriteTransaction } from '../sequelize/writeTransaction.js'
import { isDeadlock } from './failure.js'
import type { StatementContext } from './store.js'
import { queueFullProblem, WriteTimeout, writeTimeoutProblem } from './writeTimeout.js'

interface TransactionOptions {
  readonly isRepeatable: boolean
  /** Whether each statement sees the latest commits, on databases whose transactions read a snapshot. Default false. */
  readonly readsCommitted?: boolean
}

/**
 * Runs a write in a transaction. If `isRepeatable` is true, the write is repeated after conflicts with other writes.
 * @throws Problem if the write timeout is exceeded, or the write queue is full
 */
export async function inTransaction<T>(
  store: StatementContext,
  work: (transaction: Transaction) => Promise<T>,
  how: TransactionOptions = { isRepeatable: true },
): Promise<T> {
  const joined = surroundingTransaction(store)
  if (joined !== undefined) {
    return withWriteTimeout(store, async () => {
      await checkTransaction(store.sequelize, joined)
      return work(joined)
    })
  }
  const write = (time: WriteTimeout): Promise<T> => {
    const transaction = new WriteTransaction(store, how.readsCommitted)
    return runInContext(store.sequelize, () => runTransaction(transaction, time, work, store))
  }
  return retryConflicts(store, write, how)
}

/**
 * Runs a write that may be refused after its statements, as `inTransaction` does. In a transaction of the host, an error
 * rolls back to a savepoint. A transaction of the package is rolled back as a whole.
 */
export function inRefusableTransaction<T>(
  store: StatementContext,
  work: (transaction: Transaction) => Promise<T>,
  how?: TransactionOptions,
): Promise<T> {
  const write = (transaction: Transaction): Promise<T> =>
    transaction instanceof WriteTransaction ? work(transaction) : runInSavepoint(transaction, work)
  return inTransaction(store, write, how)
}

/**
 * Runs a write of one statement without hooks, outside a transaction. If connections may lead to different servers, a
 * transaction is used: closing its connection undoes a statement that cannot be cancelled.
 */
export function runSingleStatement<T>(
  store: StatementContext,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const joined = surroundingTransaction(store)
  if (joined !== undefined) return withWriteTimeout(store, () => work(joined))
  return retryConflicts(store, async (time) => {
    const statement = hasSeveralServers(store.sequelize) ? null : new LoneStatement(store)
    await statement?.waitForConnection()
    if (statement === null || hasSeveralServers(store.sequelize)) {
      statement?.release()
      const transaction = new WriteTransaction(store)
      return runInContext(store.sequelize, () => runTransaction(transaction, time, work, store))
    }
    store.commitOrder?.expectCommit()
    if (store.client?.isDisconnected) {
      statement.release()
      throw createDisconnectError()
    }
    const watch = time.startTimer((pending) => statement.abandon(pending))
    try {
      return await watch.settle(work(statement))
    } catch (error) {
      if (isWrongServer(error, store.dialect)) statement.markUnusable()
      throw watch.isExpired ? writeTimeoutProblem(error) : error
    } finally {
      watch.stop()
      statement.release()
    }
  })
}

/** Applies the write timeout to a part of a write that holds no connection. */
export async function withWriteTimeout<T>(
  { resource, transaction }: StatementContext,
  work: () => Promise<T>,
): Promise<T> {
  // The timeout of the transaction already applies.
  if (transaction !== undefined) return work()
  const watch = new WriteTimeout(resource.limits.writeTime).startTimer(async () => undefined)
  try {
    return await watch.race(work())
  } catch (error) {
    throw watch.isExpired ? writeTimeoutProblem(error) : error
  } finally {
    watch.stop()
  }
}

/** Whether the write runs inside a transaction that other code ends. */
export function isInTransaction(store: StatementContext): boolean {
  return surroundingTransaction(store) !== undefined
}

/** Returns the transaction that a write joins: the transaction of a batch, or of the host. */
export function surroundingTransaction({ transaction, sequelize }: StatementContext): Transaction | undefined {
  return transaction ?? ambientTransaction(sequelize)
}

async function runTransaction<T>(
  transaction: WriteTransaction,
  time: WriteTimeout,
  work: (transaction: Transaction) => Promise<T>,
  { resource, client, commitOrder, dialect }: StatementContext,
): Promise<T> {
  await transaction.waitForConnection()
  if (client?.isDisconnected) {
    transaction.returnBeforeBegin()
    throw createDisconnectError()
  }
  const watch = time.startTimer((pending) => transaction.abandon(pending))
  try {
    commitOrder?.beginAttempt()
    await watch.race(transaction.start())
    const result = await watch.race(work(transaction))
    commitOrder?.prepareCommit(isOutcome(result) ? result : null)
    const committed = transaction.commit()
    // A failure or timeout after the COMMIT does not undo the write.
    await watch.settle(committed).catch((error: unknown) => {
      if (!transaction.isCommitted) throw error
      if (!watch.isExpired && client !== undefined) reportError(error, client.request, resource.onError)
    })
    return result
  } catch (error) {
    if (isWrongServer(error, dialect)) transaction.markUnusable()
    if (watch.isExpired) throw writeTimeoutProblem(error)
    if (transaction.finished === undefined) await watch.settle(transaction.rollback()).catch(() => undefined)
    // Statements after the failure were rejected only because the transaction had ended.
    throw transaction.failure === undefined || isRefusal(error) ? error : transaction.failure
  } finally {
    watch.stop()
  }
}

function isOutcome(result: unknown): result is Outcome {
  return isObject(result) && typeof result.kind === 'string' && Object.hasOwn(WRITE_OUTCOMES, result.kind)
}

/** Kinds of outcomes of writes. */
const WRITE_OUTCOMES = { record: 0, records: 0, parts: 0, deleted: 0, action: 0 } satisfies {
  [kind in Outcome['kind']]?: 0
}

/**
 * Returns the given value for the first attempt and a new value for later attempts. A saved instance considers itself
 * stored, even after a rollback.
 */
export function recreateOnRetry<T>(first: T, make: () => T): () => T {
  let isUsed = false
  return () => {
    if (isUsed) return make()
    isUsed = true
    return first
  }
}

/** Pending or completed COMMIT of a write. */
export interface PendingCommit {
  /** Whether the host's own transaction contains the write, possibly in savepoints. */
  readonly isOfHost: boolean
  /** Whether the host has rolled back its transaction. */
  readonly isRolledBack: () => boolean
  /**
   * Calls `work` after the commit, or at once if the write has already committed. Calls `failed` if the COMMIT fails.
   */
  readonly afterCommit: (work: () => void, failed?: () => void) => void
}

/** Returns the commit of a write that is made now. Call it before the write ends, because the host may roll back. */
export function pendingCommitOf({ sequelize }: StatementContext): PendingCommit {
  const ambient = ambientTransaction(sequelize)
  return {
    isOfHost: ambient !== undefined,
    isRolledBack: () => ambient !== undefined && isTransactionRolledBack(ambient),
    afterCommit: (work, failed) => (ambient === undefined ? work() : runWhenCommitted(ambient, work, failed)),
  }
}

/** Number of attempts at a write that conflicts with a concurrent INSERT of its record. */
const RACE_ATTEMPTS = 3

/** Number of attempts that an error allows. */
const racedErrors = new WeakMap<object, number>()

/**
 * Marks an error after which a repeated write may succeed, for example because it finds a record that was inserted
 * meanwhile.
 */
export function markRaced(error: unknown, attempts: number = RACE_ATTEMPTS): unknown {
  if (typeof error === 'object' && error !== null) racedErrors.set(error, attempts)
  return error
}

/** Returns the number of attempts that an error allows, or 0 if a repetition is useless. */
function maxAttemptsFor(error: unknown): number {
  if (isOutdatedError(error)) return RACE_ATTEMPTS
  return typeof error === 'object' && error !== null ? (racedErrors.get(error) ?? 0) : 0
}

/**
 * Repeats a write after a marked error. In a surrounding transaction, the code that started the transaction repeats the
 * write.
 */
export async function retryRaced<T>(store: StatementContext, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries >= maxAttemptsFor(error) || surroundingTransaction(store) !== undefined) throw error
    }
  }
}

const queuesBySequelize = new WeakMap<Sequelize, WriteQueue>()

/** Runs a write, in the write queue on SQLite, and repeats it after conflicts. */
async function retryConflicts<T>(
  { sequelize, dialect, client, resource: { limits } }: StatementContext,
  work: (time: WriteTimeout) => Promise<T>,
  { isRepeatable }: TransactionOptions = { isRepeatable: true },
): Promise<T> {
  const time = new WriteTimeout(limits.writeTime)
  const runUnlessDisconnected = (): Promise<T> => {
    if (client?.isDisconnected) throw createDisconnectError()
    return work(time)
  }
  const queue = dialect.queuesWrites ? getOrCreate(queuesBySequelize, sequelize, () => new WriteQueue()) : null
  let deadlocks = 0
  let races = 0
  for (;;) {
    try {
      return await (queue === null ? work(time) : queue.run(limits.writeQueue, runUnlessDisconnected))
    } catch (error) {
      if (!isRepeatable) throw error
      if (isDeadlock(error, dialect)) {
        deadlocks += 1
        if (deadlocks > limits.retries || !(await time.waitBeforeRetry(deadlocks))) throw error
      } else {
        races += 1
        if (races >= maxAttemptsFor(error)) throw error
      }
    }
  }
}

/** Runs functions one after the other. */
class WriteQueue {
  #last: Promise<unknown> = Promise.resolve()
  #size = 0

  /** Rejects with a Problem at once if `limit` functions are already waiting. The running function does not count. */
  run<T>(limit: number, work: () => Promise<T>): Promise<T> {
    if (this.#size > limit) return Promise.reject(queueFullProblem(limit))
    this.#size += 1
    const mine = this.#last.then(work)
    // An error rejects only `mine`. The queue continues.
    const finish = (): void => {
      this.#size -= 1
    }
    this.#last = mine.then(finish, finish)
    return mine
  }
}
