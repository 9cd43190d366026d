import type { Transaction } from 'sequelize'
import { checkSequelize } from '../sequelize/session.js'
import { timedOn } from '../sequelize/statementTime.js'
import { ambientTransaction } from '../sequelize/transaction.js'
import type { Store } from './store.js'

/**
 * Does something whose statements end in time where they run in a transaction of the host's. In one of a write they do by
 * themselves, and so do those that take a connection with the limit among their options.
 */
export function timed<T>(
  { sequelize, limit, transaction: joined }: Pick<Store, 'sequelize' | 'limit' | 'transaction'>,
  given: Transaction | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (limit === null) return work()
  const transaction: object | undefined = given ?? joined ?? ambientTransaction(sequelize)
  return timedOn(sequelize, limit, transaction && Reflect.get(transaction, 'connection'), work)
}

/** The same for statements that Sequelize sends itself, after a check of the database session. */
export function timedBySequelize<T>(
  store: Pick<Store, 'sequelize' | 'limit' | 'transaction'>,
  given: Transaction | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const { sequelize, transaction: joined } = store
  const checking = checkSequelize(sequelize, given ?? joined ?? ambientTransaction(sequelize))
  return checking === null ? timed(store, given, work) : checking.then(() => timed(store, given, work))
}
