import type { Transaction } from 'sequelize'
import { checkSequelize } from '../sequelize/session.js'
import { runTimed } from '../sequelize/statementTimeout.js'
import { ambientTransaction } from '../sequelize/transaction.js'
import type { StatementContext } from './store.js'

/**
 * Runs statements with the statement timeout. Sets the timeout on the connection of a host's transaction, because other
 * connections already have the timeout.
 */
export function withStatementTimeout<T>(
  { sequelize, limit, transaction: joined }: Pick<StatementContext, 'sequelize' | 'limit' | 'transaction'>,
  given: Transaction | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (limit === null) return work()
  const transaction: object | undefined = given ?? joined ?? ambientTransaction(sequelize)
  return runTimed(sequelize, limit, transaction && Reflect.get(transaction, 'connection'), work)
}

/**
 * Like `withStatementTimeout`, for statements that Sequelize sends itself. Checks the database session first, unless
 * the pooled connection is already checked.
 */
export function withSequelizeTimeout<T>(
  store: Pick<StatementContext, 'sequelize' | 'limit' | 'transaction'>,
  given: Transaction | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const { sequelize, limit, transaction: joined } = store
  return withStatementTimeout(store, given, () => {
    const transaction = given ?? joined ?? ambientTransaction(sequelize)
    if (transaction === undefined && limit !== null) return work()
    const checking = checkSequelize(sequelize, transaction)
    return checking === null ? work() : checking.then(work)
  })
}
