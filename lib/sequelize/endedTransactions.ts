// Transactions that the database itself has ended because of an error. If a hook catches the error and goes on, its further
// statements would be committed one by one, even if the write fails in the end.

import { type Sequelize, Transaction } from 'sequelize'
import type { Connection } from './connections.js'
import { OWN_HOOK } from './run.js'
import { sendText } from './send.js'
import { isTransactionOpen } from './transaction.js'
import { endTransaction, isPartOfWrite } from './writeTransaction.js'

/** Sequelize's object for one statement, with the function that sends it. */
interface SequelizeQuery {
  readonly connection: Connection
  run(...given: unknown[]): Promise<unknown>
}

const watchedInstances = new WeakSet<Sequelize>()

/** Watches the queries that Sequelize sends in transactions of writes, such as queries of hooks. */
export function watchTransactions(sequelize: Sequelize): void {
  if (watchedInstances.has(sequelize)) return
  watchedInstances.add(sequelize)
  sequelize.addHook('beforeQuery', OWN_HOOK, ({ transaction }: { readonly transaction?: unknown }, query: object) => {
    if (transaction instanceof Transaction && isPartOfWrite(transaction))
      watchQuery(sequelize, query as SequelizeQuery, transaction)
  })
}

/** Watches one query. Sequelize creates the object for this query only. */
function watchQuery(sequelize: Sequelize, query: SequelizeQuery, transaction: Transaction): void {
  query.run = createWatchedRun(sequelize, query, transaction)
}

function createWatchedRun(
  sequelize: Sequelize,
  query: SequelizeQuery,
  transaction: Transaction,
): SequelizeQuery['run'] {
  const { connection, run } = query
  const isSqlite = sequelize.getDialect() === 'sqlite'
  return async (...given) => {
    try {
      return await run.apply(query, given)
    } catch (error) {
      // After the end of the transaction, another write may use the connection.
      const isOpen = isTransactionOpen(transaction)
      const hasEnded = isSqlite ? isOpen && (await canBegin(sequelize, connection)) : hasEndedTransaction(error)
      if (hasEnded) await endTransaction(transaction, error)
      throw error
    }
  }
}

/**
 * Error codes after which MySQL and MariaDB have ended the whole transaction: a deadlock, or on MariaDB a record changed
 * since the last read.
 */
const ENDED_TRANSACTION_CODES: ReadonlySet<unknown> = new Set([1213, 1020])

/** Whether a server has ended the whole transaction because of an error. */
export function hasEndedTransaction(error: unknown): boolean {
  return ENDED_TRANSACTION_CODES.has(Object(Object(error).original).errno)
}

/**
 * Whether BEGIN succeeds on a SQLite connection, which means that the connection was in no transaction. SQLite ends
 * transactions because of `ON CONFLICT ROLLBACK`, triggers, interrupts and full disks. The caller ends the new transaction.
 */
function canBegin(sequelize: Sequelize, connection: Connection): Promise<boolean> {
  return sendText(sequelize, connection, 'BEGIN').then(
    () => true,
    () => false,
  )
}
