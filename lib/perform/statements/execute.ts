import type { Sequelize, Transaction } from 'sequelize'
import { isFast } from '../../common/fastPaths.js'
import { internalError } from '../../common/internalError.js'
import { isPromise } from '../../common/promise.js'
import { type DirectRun, type DirectStatements, directStatementsOf } from '../../sequelize/directStatements.js'
import { isTimeout } from '../../sequelize/failure.js'
import { type NumberedRun, namedStatementsOf } from '../../sequelize/namedStatements.js'
import {
  type PreparedStatements,
  preparedStatementsOf,
  runOnTimedConnection,
  statementsOfConnection,
} from '../../sequelize/preparedStatements.js'
import { canRunOwnQueries, canRunServerQueries, type RawRow, runReadQuery, runWriteQuery } from '../../sequelize/run.js'
import { ambientTransaction, isTransactionOpen } from '../../sequelize/transaction.js'
import { LoneStatement, WriteTransaction } from '../../sequelize/writeTransaction.js'
import type { Statement } from '../statement/statement.js'
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

export function fetchRows(store: StatementContext, execution: Execution): Promise<readonly RawRow[]> {
  return runExecution(store, execution, ROW_METHODS)
}

/** Runs an UPDATE or DELETE and returns the number of rows that the database reports. */
export function countAffectedRows(store: StatementContext, execution: Execution): Promise<number> {
  return runExecution(store, execution, AFFECTED_METHODS)
}

/** Functions that run a statement: one for each method of the drivers. */
interface RunMethods<T> {
  readonly runPrepared: (prepared: PreparedStatements, execution: Execution) => Promise<T>
  readonly runNamed: (store: StatementContext, execution: Execution) => Promise<T>
  readonly runDirect: (statements: DirectStatements, run: DirectRun) => Promise<T>
  readonly runQuery: (sequelize: Sequelize, bound: Parameters<typeof runReadQuery>[1]) => Promise<T>
}

const ROW_METHODS: RunMethods<readonly RawRow[]> = {
  runPrepared: (prepared, { statement, isKeyLookup = false }) => {
    const { sql, values } = statement.toNumbered()
    return statement.isReusable ? prepared.readRows(sql, values, isKeyLookup) : prepared.readRowsOnce(sql, values)
  },
  runNamed: (store, execution) => namedStatementsOf(store.sequelize).readRows(createNamedRun(store, execution)),
  runDirect: (statements, run) => statements.readRows(run),
  runQuery: runReadQuery,
}

const AFFECTED_METHODS: RunMethods<number> = {
  runPrepared: (prepared, { statement }) => {
    const { sql, values } = statement.toNumbered()
    return prepared.runWrite(sql, values)
  },
  runNamed: (store, execution) => namedStatementsOf(store.sequelize).runWrite(createNamedRun(store, execution)),
  runDirect: (statements, run) => statements.runWrite(run),
  runQuery: runWriteQuery,
}

function createNamedRun(
  { resource, limit }: StatementContext,
  { statement, transaction, isOnPrimary }: Execution,
): NumberedRun {
  const isNameable = statement.isReusable && resource.namedStatements
  return { ...statement.toNumbered(), transaction, writes: isOnPrimary, isNameable, limit }
}

function runExecution<T>(store: StatementContext, execution: Execution, ways: RunMethods<T>): Promise<T> {
  if (!isFast) return runBySequelize(store, execution, ways)
  const { sequelize, dialect } = store
  if (dialect.preparesBy === 'connection') return runDirectly(store, execution, ways)
  const { statement, transaction, isOnPrimary } = execution
  const around = transaction ?? ambientTransaction(sequelize)
  // A statement of a finished transaction goes to Sequelize, which throws its own error.
  if (!canRunServerQueries(sequelize) || (around !== undefined && !isTransactionOpen(around))) {
    return runBySequelize(store, execution, ways)
  }
  if (dialect.preparesBy === 'name') {
    return withStatementTimeout(store, around, () =>
      ways.runNamed(store, { statement, transaction: around, isOnPrimary }),
    )
  }
  const direct = directStatementsOf(sequelize)
  if (direct === null) return runBySequelize(store, execution, ways)
  const sql = statement.toInline()
  return withStatementTimeout(store, around, () =>
    ways.runDirect(direct, { sql, transaction: around, writes: isOnPrimary, limit: store.limit }),
  )
}

async function runDirectly<T>(store: StatementContext, execution: Execution, ways: RunMethods<T>): Promise<T> {
  const { sequelize, limit } = store
  const { transaction } = execution
  if (canPrepare(sequelize, transaction)) {
    try {
      if (transaction === undefined && limit !== null) {
        return await runOnTimedConnection(sequelize, limit, (statements) => ways.runPrepared(statements, execution))
      }
      const statements = preparedStatementsFor(sequelize, transaction)
      const ready = isPromise(statements) ? await statements : statements
      return await ways.runPrepared(ready, execution)
    } catch (error) {
      // Another writer holds the lock. Sequelize retries according to the host's configuration.
      if (!isTimeout(error)) throw error
    }
  }
  return runBySequelize(store, execution, ways)
}

function runBySequelize<T>(store: StatementContext, execution: Execution, ways: RunMethods<T>): Promise<T> {
  const { statement, transaction, isOnPrimary } = execution
  const { sequelize, limit } = store
  return withSequelizeTimeout(store, transaction, () => {
    return ways.runQuery(sequelize, { sql: statement.toInline(), transaction, writes: isOnPrimary, limit })
  })
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
