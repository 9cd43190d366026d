import type { Transaction } from 'sequelize'
import { WriteTransaction } from './writeRun.js'

/** Whether a transaction is one of the package's own, which a failure rolls back whole. */
export function isWrite(transaction: Transaction): boolean {
  return transaction instanceof WriteTransaction
}

/** Does something in a savepoint of a transaction of the host's. A failure goes back to it, and the host may go on. */
export function inSavepoint<T>(transaction: Transaction, work: (savepoint: Transaction) => Promise<T>): Promise<T> {
  const { sequelize } = transaction as Transaction & { readonly sequelize: { readonly transaction: Begin } }
  return sequelize.transaction({ transaction }, work)
}

type Begin = <T>(
  options: { readonly transaction: Transaction },
  work: (savepoint: Transaction) => Promise<T>,
) => Promise<T>
