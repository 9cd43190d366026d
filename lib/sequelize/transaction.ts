// Transactions as Sequelize keeps them, those of the host included.

import type { Sequelize, Transaction } from 'sequelize'
import { internals } from './internals.js'

/** The transaction that the host opened around this request in continuation-local storage. */
export function ambientTransaction(sequelize: Sequelize): Transaction | undefined {
  // Null behind the end of a transaction.
  return internals(sequelize).constructor._cls?.get('transaction') ?? undefined
}

/** Whether statements find their transaction by continuation-local storage, which the host has switched on. */
export function usesContext(sequelize: Sequelize): boolean {
  return internals(sequelize).constructor._cls !== undefined
}

/** Runs something with a continuation-local storage of its own, where the host uses it. */
export function inContext<T>(sequelize: Sequelize, work: () => Promise<T>): Promise<T> {
  return internals(sequelize).constructor._clsRun(work)
}

/** Makes a transaction the one that is found in the continuation-local storage. */
export function enterContext(transaction: Transaction & { readonly sequelize: Sequelize }): void {
  internals(transaction.sequelize).constructor._cls?.set('transaction', transaction)
}

/** Whether a transaction takes statements: it has a connection, and has not ended. */
export function isOpen(transaction: Transaction): boolean {
  const { connection, finished } = transaction as Transaction & { connection?: object; finished?: string }
  return connection !== undefined && finished === undefined
}

/** Whether a transaction, or one around it, was rolled back. */
export function isRolledBack(transaction: Transaction): boolean {
  const { parent, finished } = transaction as Transaction & { parent?: Transaction | null; finished?: string }
  return finished === 'rollback' || (parent ? isRolledBack(parent) : false)
}

/**
 * Runs something when a transaction and those around it are committed. Not by `afterCommit`, whose functions Sequelize
 * calls even where the COMMIT failed: then `failed` is called.
 */
export function whenCommitted(transaction: Transaction, work: () => void, failed: () => void = () => undefined): void {
  const { parent, finished } = transaction as Transaction & { parent?: Transaction | null; finished?: string }
  const go = (): void => (parent ? whenCommitted(parent, work, failed) : work())
  if (finished === 'commit') go()
  if (finished !== undefined) return
  const commit = transaction.commit
  const telling = async (): Promise<void> => {
    try {
      await commit.call(transaction)
    } catch (error) {
      failed()
      throw error
    }
    go()
  }
  transaction.commit = telling
}
