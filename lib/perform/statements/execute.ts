import type { Sequelize, Transaction } from 'sequelize'
import { isFast } from '../../common/fastPaths.js'
import { internalError } from '../../common/internalError.js'
import { isPromise } from '../../common/promise.js'
import { type DirectRun, directStatementsOf } from '../../sequelize/directStatements.js'
import { isTimeout } from '../../sequelize/failure.js'
import { type NumberedRun, namedStatementsOf } from '../../sequelize/namedStatements.js'
import type { PooledRun } from '../../sequelize/pooledConnections.js'
import {
  type PreparedRun,
  preparedStatementsOf,
  runOnTimedConnection,
  statementsOfConnection,
} from '../../sequelize/preparedStatements.js'
import {
  canRunOwnQueries,
  canRunServerQueries,
  type QueryRun,
  type RawRow,
  runReadQuery,
  runWriteQuery,
} from '../../sequelize/run.js'
import { ambientTransaction, isTransactionOpen } from '../../sequelize/transaction.js'
import { LoneStatement, WriteTransaction } from '../../sequelize/writeTransaction.js'
import type { Statement } from '../sql/statement.js'
import { withSequelizeTimeout, withStatementTimeout } from '../statementTimeout.js'
import type { StatementContext } from '../store.js'

/** Statement with the transaction and server that it runs on. */
export interface Execution {
  readonly statement: Statement
  readonly transaction: Transaction | undefined
  /** Whether the statement must run on the primary, because it writes or reads back a write. */
  readonly isOnPrimary: boolean
  /**
   * Whether the statement reads one record, or a short page, by the key alone. SQLite gets several such reads at once.
   * Default false.
   */
  readonly isKeyLookup?: boolean
}

/** Results of the methods that every driver has: the rows, or the number of rows that a statement changed. */
interface Results {
  readonly readRows: readonly RawRow[]
  readonly runWrite: number
}

type Method = keyof Results

/** The methods of a driver. `R` describes a statement and where it runs. */
type Methods<R> = { readonly [M in Method]: (run: R) => Promise<Results[M]> }

export function fetchRows(store: StatementContext, execution: Execution): Promise<readonly RawRow[]> {
  return runStatement(store, execution, 'readRows')
}

/** Runs an UPDATE or DELETE and returns the number of rows that the database reports. */
export function countAffectedRows(store: StatementContext, execution: Execution): Promise<number> {
  return runStatement(store, execution, 'runWrite')
}

function runStatement<M extends Method>(store: StatementContext, execution: Execution, method: M): Promise<Results[M]> {
  if (!isFast) return runBySequelize(store, execution, method)
  const { sequelize, dialect, limit, resource } = store
  if (dialect.preparesBy === 'connection') return runPrepared(store, execution, method)
  const { statement, transaction, isOnPrimary } = execution
  const around = transaction ?? ambientTransaction(sequelize)
  // A statement of a finished transaction goes to Sequelize, which throws its own error.
  if (!canRunServerQueries(sequelize) || (around !== undefined && !isTransactionOpen(around))) {
    return runBySequelize(store, execution, method)
  }
  const pooled: PooledRun = { transaction: around, writes: isOnPrimary, limit }
  if (dialect.preparesBy === 'name') {
    const named: Methods<NumberedRun> = namedStatementsOf(sequelize)
    const isNameable = statement.isReusable && resource.namedStatements
    return withStatementTimeout(store, around, () =>
      named[method]({ ...statement.toNumbered(), ...pooled, isNameable }),
    )
  }
  const direct: Methods<DirectRun> | null = directStatementsOf(sequelize)
  if (direct === null) return runBySequelize(store, execution, method)
  const sql = statement.toInline()
  return withStatementTimeout(store, around, () => direct[method]({ sql, ...pooled }))
}

/** Runs a statement on SQLite. */
async function runPrepared<M extends Method>(
  store: StatementContext,
  execution: Execution,
  method: M,
): Promise<Results[M]> {
  const { sequelize, limit } = store
  const { statement, transaction, isKeyLookup } = execution
  if (canPrepare(sequelize, transaction)) {
    const runOn = (statements: Methods<PreparedRun>): Promise<Results[M]> =>
      statements[method]({ ...statement.toNumbered(), isBrief: isKeyLookup, isReusable: statement.isReusable })
    try {
      if (transaction === undefined && limit !== null) return await runOnTimedConnection(sequelize, limit, runOn)
      const statements = preparedStatementsFor(sequelize, transaction)
      return await runOn(isPromise(statements) ? await statements : statements)
    } catch (error) {
      // Another writer holds the lock. Sequelize retries according to the host's configuration.
      if (!isTimeout(error)) throw error
    }
  }
  return runBySequelize(store, execution, method)
}

const QUERIES: {
  readonly [M in Method]: (sequelize: Sequelize, run: QueryRun) => Promise<Results[M]>
} = { readRows: runReadQuery, runWrite: runWriteQuery }

function runBySequelize<M extends Method>(
  store: StatementContext,
  { statement, transaction, isOnPrimary }: Execution,
  method: M,
): Promise<Results[M]> {
  const { sequelize, limit } = store
  return withSequelizeTimeout(store, transaction, () =>
    QUERIES[method](sequelize, { sql: statement.toInline(), transaction, writes: isOnPrimary, limit }),
  )
}

function preparedStatementsFor(
  sequelize: Sequelize,
  transaction: Transaction | undefined,
): ReturnType<typeof preparedStatementsOf> {
  const isOwn = transaction instanceof WriteTransaction || transaction instanceof LoneStatement
  if (!isOwn) return preparedStatementsOf(sequelize)
  const { connection } = transaction
  if (connection !== undefined) return statementsOfConnection(transaction.sequelize, connection)
  if (transaction instanceof LoneStatement) return preparedStatementsOf(transaction.sequelize)
  throw internalError('an open transaction has no database connection')
}

/**
 * Whether a prepared statement may run. A transaction of the host has its own connection, and query hooks must see
 * every query.
 */
function canPrepare(sequelize: Sequelize, transaction: Transaction | undefined): boolean {
  if (!canRunOwnQueries(sequelize)) return false
  // A statement of a finished transaction goes to Sequelize, which throws its own error.
  if (transaction instanceof WriteTransaction) return isTransactionOpen(transaction)
  const isAlone = transaction === undefined || transaction instanceof LoneStatement
  return isAlone && ambientTransaction(sequelize) === undefined
}
