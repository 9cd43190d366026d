import type { Transaction } from 'sequelize'
import { WriteTransaction } from './writeTransaction.js'

/** Whether a transaction belongs to the package, so that a failure rolls back all of it. */
export function isPackageTransaction(transaction: Transaction): boolean {
  return transaction instanceof WriteTransaction
}

/** Runs work in a savepoint of the host's transaction. A failure rolls back to the savepoint, and the host may continue. */
export function runInSavepoint<T>(transaction: Transaction, work: (savepoint: Transaction) => Promise<T>): Promise<T> {
  const { sequelize } = transaction as Transaction & { readonly sequelize: { readonly transaction: BeginSavepoint } }
  return sequelize.transaction({ transaction }, work)
}

type BeginSavepoint = <T>(
  options: { readonly transaction: Transaction },
  work: (savepoint: Transaction) => Promise<T>,
) => Promise<T>
