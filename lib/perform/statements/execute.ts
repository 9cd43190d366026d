import type { Sequelize, Transaction } from 'sequelize'
import { isPending } from '../../common/pending.js'
import { isFast } from '../../common/speed.js'
import { type DirectRun, type DirectStatements, directStatementsOf } from '../../sequelize/direct.js'
import { isTimeout } from '../../sequelize/failure.js'
import { type NumberedRun, namedStatementsOf } from '../../sequelize/named.js'
import {
  onTimedHandle,
  type PreparedStatements,
  preparedAlone,
  preparedOf,
  preparedWithin,
} from '../../sequelize/prepared.js'
import { queryAffected, queryRows, type RawRow, runsPlainQueries, runsServerQueries } from '../../sequelize/run.js'
import { ambientTransaction, isOpen } from '../../sequelize/transaction.js'
import { LoneStatement, WriteTransaction } from '../../sequelize/writeRun.js'
import type { Statement } from '../statement/statement.js'
import type { Store } from '../store.js'
import { timed, timedBySequelize } from '../timed.js'

/** A statement with its context. */
export interface Execution {
  readonly statement: Statement
  readonly transaction: Transaction | undefined
  /** Whether it must run on the primary: it writes, or reads what was just written. */
  readonly writes: boolean
  /** Whether it reads one or a few records by key. Default false. */
  readonly isBrief?: boolean
}

/** Runs a statement and returns its rows. */
export function rowsOf(store: Store, execution: Execution): Promise<readonly RawRow[]> {
  return run(store, execution, ROWS)
}

/** Runs an UPDATE or DELETE and returns the number of rows that the database reports. */
export function affectedBy(store: Store, execution: Execution): Promise<number> {
  return run(store, execution, AFFECTED)
}

/** One function for each way of running a statement. */
interface Ways<T> {
  readonly handle: (prepared: PreparedStatements, execution: Execution) => Promise<T>
  readonly name: (store: Store, execution: Execution) => Promise<T>
  readonly direct: (statements: DirectStatements, run: DirectRun) => Promise<T>
  readonly query: (sequelize: Sequelize, bound: Parameters<typeof queryRows>[1]) => Promise<T>
}

const ROWS: Ways<readonly RawRow[]> = {
  handle: (prepared, { statement, isBrief = false }) => {
    const { sql, values } = statement.numbered()
    return statement.isKept ? prepared.rows(sql, values, isBrief) : prepared.rowsOnce(sql, values)
  },
  name: (store, execution) => namedStatementsOf(store.sequelize).rows(namedRun(store, execution)),
  direct: (statements, run) => statements.rows(run),
  query: queryRows,
}

const AFFECTED: Ways<number> = {
  handle: (prepared, { statement }) => {
    const { sql, values } = statement.numbered()
    return prepared.affected(sql, values)
  },
  name: (store, execution) => namedStatementsOf(store.sequelize).affected(namedRun(store, execution)),
  direct: (statements, run) => statements.affected(run),
  query: queryAffected,
}

function namedRun({ resource, limit }: Store, { statement, transaction, writes }: Execution): NumberedRun {
  const isKept = statement.isKept && resource.namedStatements
  return { ...statement.numbered(), transaction, writes, isKept, limit }
}

function run<T>(store: Store, execution: Execution, ways: Ways<T>): Promise<T> {
  if (!isFast) return runBySequelize(store, execution, ways)
  const { sequelize, dialect } = store
  if (dialect.prepares === 'handle') return runOnHandle(store, execution, ways)
  const { statement, transaction, writes } = execution
  const around = transaction ?? ambientTransaction(sequelize)
  // Sequelize throws its own error for a finished transaction.
  if (!runsServerQueries(sequelize) || (around !== undefined && !isOpen(around))) {
    return runBySequelize(store, execution, ways)
  }
  if (dialect.prepares === 'name') {
    return timed(store, around, () => ways.name(store, { statement, transaction: around, writes }))
  }
  const direct = directStatementsOf(sequelize)
  if (direct === null) return runBySequelize(store, execution, ways)
  const sql = statement.inline()
  return timed(store, around, () => ways.direct(direct, { sql, transaction: around, writes, limit: store.limit }))
}

async function runOnHandle<T>(store: Store, execution: Execution, ways: Ways<T>): Promise<T> {
  const { sequelize, limit } = store
  const { transaction } = execution
  if (mayPrepare(sequelize, transaction)) {
    try {
      if (transaction === undefined && limit !== null) {
        return await onTimedHandle(sequelize, limit, (statements) => ways.handle(statements, execution))
      }
      const statements = preparedFor(sequelize, transaction)
      const ready = isPending(statements) ? await statements : statements
      return await ways.handle(ready, execution)
    } catch (error) {
      // Another writer holds the lock. Sequelize retries as the host has configured it.
      if (!isTimeout(error)) throw error
    }
  }
  return runBySequelize(store, execution, ways)
}

function runBySequelize<T>(store: Store, execution: Execution, ways: Ways<T>): Promise<T> {
  const { statement, transaction, writes } = execution
  const { sequelize, limit } = store
  return timedBySequelize(store, transaction, () => {
    return ways.query(sequelize, { sql: statement.inline(), transaction, writes, limit })
  })
}

function preparedFor(sequelize: Sequelize, transaction: Transaction | undefined): ReturnType<typeof preparedOf> {
  if (transaction instanceof WriteTransaction) return preparedWithin(transaction)
  return transaction instanceof LoneStatement ? preparedAlone(transaction) : preparedOf(sequelize)
}

/** A transaction of the host has its own connection, and query hooks must see every query. */
function mayPrepare(sequelize: Sequelize, transaction: Transaction | undefined): boolean {
  if (!runsPlainQueries(sequelize)) return false
  // Sequelize throws its own error for a finished transaction.
  if (transaction instanceof WriteTransaction) return isOpen(transaction)
  const isAlone = transaction === undefined || transaction instanceof LoneStatement
  return isAlone && ambientTransaction(sequelize) === undefined
}
