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

/**
 * The same for statements that Sequelize sends itself, after a check of the database session. Each connection of the pool is checked where the
 * time of statements is limited.
 */
export function timedBySequelize<T>(
  store: Pick<Store, 'sequelize' | 'limit' | 'transaction'>,
  given: Transaction | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const { sequelize, limit, transaction: joined } = store
  return timed(store, given, () => {
    const transaction = given ?? joined ?? ambientTransaction(sequelize)
    if (transaction === undefined && limit !== null) return work()
    const checking = checkSequelize(sequelize, transaction)
    return checking === null ? work() : checking.then(work)
  })
}
