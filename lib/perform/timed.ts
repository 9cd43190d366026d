import type { Transaction } from 'sequelize'
import { checkSequelize } from '../sequelize/session.js'
import { timedOn } from '../sequelize/statementTime.js'
import { ambientTransaction } from '../sequelize/transaction.js'
import type { Store } from './store.js'

/**
 * Runs statements with the statement timeout. This matters in a transaction of the host: other connections already have
 * the timeout.
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
 * Like `timed`, for statements that Sequelize sends itself. The database session is checked first, unless the pooled
 * connection is already checked.
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
