import type { Sequelize, Transaction } from 'sequelize'
import { isTimeout } from '../../sequelize/failure.js'
import { type PreparedStatements, preparedOf } from '../../sequelize/prepared.js'
import { queryAffected, queryRows, type RawRow, runsPlainQueries } from '../../sequelize/run.js'
import { ambientTransaction } from '../../sequelize/transaction.js'
import { LoneStatement } from '../../sequelize/writeRun.js'
import type { Statement } from '../statement/statement.js'
import type { Store } from '../store.js'

/** A statement with this request's values, about to run. */
export interface Execution {
  readonly statement: Statement
  readonly values: readonly unknown[]
  readonly transaction: Transaction | undefined
  /** Whether it writes, or reads what was just written, and so must not go to a replica. */
  readonly writes: boolean
}

/** Runs a statement and gives its rows. */
export function rowsOf(store: Store, execution: Execution): Promise<readonly RawRow[]> {
  return run(
    store,
    execution,
    (prepared, sql, values) => {
      return execution.statement.isKept ? prepared.rows(sql, values) : prepared.rowsOnce(sql, values)
    },
    (bound) => queryRows(store.sequelize, bound),
  )
}

/** Runs an UPDATE or DELETE and gives the number of rows that the database reports. */
export function affectedBy(store: Store, execution: Execution): Promise<number> {
  return run(
    store,
    execution,
    (prepared, sql, values) => prepared.affected(sql, values),
    (bound) => queryAffected(store.sequelize, bound),
  )
}

async function run<T>(
  store: Store,
  { statement, values, transaction, writes }: Execution,
  prepared: (statements: PreparedStatements, sql: string, values: readonly unknown[]) => Promise<T>,
  query: (bound: Parameters<typeof queryRows>[1]) => Promise<T>,
): Promise<T> {
  const { dialect, model, sequelize } = store
  const isAlone = transaction === undefined || transaction instanceof LoneStatement
  if (dialect.prepares && isAlone && mayPrepare(sequelize)) {
    try {
      const statements = preparedOf(sequelize)
      const ready = statements instanceof Promise ? await statements : statements
      return await prepared(ready, statement.numbered, values)
    } catch (error) {
      // Somebody else holds the lock; Sequelize tries again as often as the host told it to.
      if (!isTimeout(error)) throw error
    }
  }
  return query({ ...statement.bind(model, values), transaction, writes })
}

/** A transaction has a handle of its own, and a query hook wants to see every query. */
function mayPrepare(sequelize: Sequelize): boolean {
  return ambientTransaction(sequelize) === undefined && runsPlainQueries(sequelize)
}
