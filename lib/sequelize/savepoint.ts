import type { Transaction } from 'sequelize'
import { WriteTransaction } from './writeRun.js'

/** Whether a transaction belongs to the package, so that a failure rolls back all of it. */
export function isWrite(transaction: Transaction): boolean {
  return transaction instanceof WriteTransaction
}

/** Runs work in a savepoint of the host's transaction. A failure rolls back to the savepoint, and the host may continue. */
export function inSavepoint<T>(transaction: Transaction, work: (savepoint: Transaction) => Promise<T>): Promise<T> {
  const { sequelize } = transaction as Transaction & { readonly sequelize: { readonly transaction: Begin } }
  return sequelize.transaction({ transaction }, work)
}

type Begin = <T>(
  options: { readonly transaction: Transaction },
  work: (savepoint: Transaction) => Promise<T>,
) => Promise<T>
