// Transactions of Sequelize, including transactions of the host.

import { type Sequelize, Transaction } from 'sequelize'
import { internalsOf } from './internals.js'

/** Returns the host's transaction around this request, from continuation-local storage. */
export function ambientTransaction(sequelize: Sequelize): Transaction | undefined {
  // The storage contains null after the end of a transaction.
  return internalsOf(sequelize).constructor._cls?.get('transaction') ?? undefined
}

/** Whether the host uses continuation-local storage for transactions. */
export function hasContext(sequelize: Sequelize): boolean {
  return internalsOf(sequelize).constructor._cls !== undefined
}

/** Runs work in a new continuation-local storage context, if the host uses it. */
export function runInContext<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  return internalsOf(sequelize).constructor._clsRun(work)
}

/** Stores a transaction in the continuation-local storage. */
export function enterContext(transaction: Transaction & { readonly sequelize: Sequelize }): void {
  internalsOf(transaction.sequelize).constructor._cls?.set('transaction', transaction)
}

/** Whether a transaction accepts statements: it has a connection and is not finished. */
export function isTransactionOpen(transaction: Transaction): boolean {
  const { connection, finished } = transaction as Transaction & { connection?: object; finished?: string }
  return connection !== undefined && finished === undefined
}

/** Whether a transaction, or an enclosing transaction, was rolled back. */
export function isTransactionRolledBack(transaction: Transaction): boolean {
  const { parent, finished } = transaction as Transaction & { parent?: Transaction | null; finished?: string }
  return finished === 'rollback' || (parent ? isTransactionRolledBack(parent) : false)
}

/** A transaction with the hooks that run after its COMMIT, and with members of its connection. */
interface CommittingTransaction {
  readonly _afterCommitHooks: ((transaction: Transaction) => unknown)[]
  readonly sequelize: Sequelize
  readonly connection?: { readonly getTransactionStatus?: () => unknown; readonly readyForQuery?: boolean }
}

/**
 * Whether a statement has failed in a transaction on PostgreSQL, whose COMMIT is then a rollback without an error. The
 * driver knows the status only when the server is ready for the next statement, which may be after the error.
 */
async function isAborted(transaction: Transaction & CommittingTransaction): Promise<boolean> {
  const { connection, sequelize } = transaction
  // An aborted transaction rejects the statement. The status is known by then.
  if (connection?.readyForQuery === false)
    await sequelize.query('SELECT 1', { transaction, logging: false }).catch(() => undefined)
  return connection?.getTransactionStatus?.() === 'E'
}

/**
 * Runs work after a transaction and all enclosing transactions are committed. Calls `failed` if a COMMIT fails.
 * Sequelize's `afterCommit` is not used, because it runs even after a failed COMMIT. The `afterCommit` hooks run after
 * the work, because a hook may throw or hang after the COMMIT has succeeded.
 */
export function runWhenCommitted(
  transaction: Transaction,
  work: () => void,
  failed: () => void = () => undefined,
): void {
  const { parent, finished } = transaction as Transaction & { parent?: Transaction | null; finished?: string }
  const runWork = (): void => (parent ? runWhenCommitted(parent, work, failed) : work())
  if (finished === 'commit') runWork()
  if (finished !== undefined) return
  const commit = transaction.commit
  const commitThenRun = async (): Promise<void> => {
    if (!isTransactionOpen(transaction)) return commit.call(transaction)
    const committing = transaction as Transaction & CommittingTransaction
    let isCommitted = !(await isAborted(committing))
    const hooks = committing._afterCommitHooks.splice(0)
    try {
      await commit.call(transaction)
    } catch (error) {
      isCommitted = false
      // Sequelize's own transactions run their hooks even after a failed COMMIT.
      if (transaction.constructor !== Transaction) hooks.length = 0
      throw error
    } finally {
      if (isCommitted) runWork()
      else failed()
      for (const hook of hooks) await hook.call(transaction, transaction)
    }
  }
  transaction.commit = commitThenRun
}

/**
 * Runs work in a savepoint of the host's transaction. A failure rolls back to the savepoint, and the host may continue.
 * `afterCommit` hooks run after the commit of the host, because Sequelize would run them at the end of the savepoint.
 */
export async function runInSavepoint<T>(
  transaction: Transaction,
  work: (savepoint: Transaction) => Promise<T>,
): Promise<T> {
  const outer = transaction as NamedTransaction
  const { sequelize, name } = outer
  const savepoint = new Savepoint(sequelize, { transaction })
  // Sequelize numbers the savepoints of each savepoint from 1, so this name could be that of a savepoint of the host.
  savepointCount += 1
  savepoint.name = `${savepoint.id}-crud-${savepointCount}`
  return runInContext(sequelize, async () => {
    try {
      await savepoint.prepareEnvironment()
      // Sequelize gives the outer savepoint the name of the inner one. A rollback of the outer savepoint needs its own name.
      outer.name = name
      const done = await work(savepoint)
      outer._afterCommitHooks.push(...savepoint._afterCommitHooks.splice(0))
      await savepoint.commit()
      return done
    } catch (error) {
      if (savepoint.finished === undefined) await savepoint.rollback().catch(() => undefined)
      throw error
    } finally {
      outer.name = name
    }
  })
}

let savepointCount = 0

type NamedTransaction = Transaction & Pick<CommittingTransaction, '_afterCommitHooks' | 'sequelize'> & { name: string }

/**
 * A savepoint that ends with its transaction. Sequelize would run later statements on the connection of the transaction,
 * which may be in use by others.
 */
class Savepoint extends Transaction {
  declare readonly id: string
  declare name: string
  declare readonly parent: Transaction & { readonly finished?: string }
  declare readonly prepareEnvironment: () => Promise<unknown>
  declare readonly _afterCommitHooks: CommittingTransaction['_afterCommitHooks']

  #finished: string | undefined

  get finished(): string | undefined {
    return this.#finished ?? this.parent.finished
  }

  set finished(how: string | undefined) {
    this.#finished = how
  }
}
