import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import {
  abortConnection,
  type Connection,
  closeConnection,
  connectionsFor,
  interrupt,
  limitOptionsOf,
  settleSoon,
} from './connections.js'
import { remainingAttempts, runControl } from './control.js'
import type { Dialect } from './dialect/index.js'
import { queryGeneratorOf } from './internals.js'
import { statementLoggingOf } from './logging.js'
import { storeGreeting } from './serverVersion.js'
import { checkSession } from './session.js'
import { isSharedConnection, returnConnection, type StatementLimit, StatementTimer } from './statementTimeout.js'
import { WRITER, waitForSetup, waitForStatements } from './timedConnections.js'
import { enterContext } from './transaction.js'

/** A savepoint in a transaction. Sequelize represents it as a transaction too. */
interface Savepoint {
  readonly savepoints: readonly Savepoint[]
  finished?: 'commit' | 'rollback'
}

/** Database and statement timeout of a run. */
export interface RunSettings {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  readonly limit: StatementLimit | null
}

/** Context for the statements of a write: a Sequelize transaction that can lose its connection after a timeout. */
abstract class WriteRun extends Transaction {
  declare readonly sequelize: Sequelize
  declare readonly savepoints: readonly Savepoint[]
  declare connection?: Connection
  declare finished?: 'commit' | 'rollback'

  protected readonly dialect: Dialect
  protected readonly limit: StatementLimit | null
  protected timer: StatementTimer | null = null
  #connectionInUse: Connection | null = null

  constructor({ sequelize, dialect, limit }: RunSettings, options: ConstructorParameters<typeof Transaction>[1]) {
    super(sequelize, { ...options, ...statementLoggingOf(sequelize) })
    this.dialect = dialect
    this.limit = limit
  }

  /** Acquires a connection, starts its statement timeout and checks its session. */
  async waitForConnection(): Promise<void> {
    const { sequelize, limit } = this
    const connection = await this.acquire()
    if (limit !== null && !this.dialect.queuesWrites)
      this.timer = new StatementTimer(sequelize, limit, connection, { autocommits: true })
    try {
      await checkSession(sequelize, connection)
    } catch (error) {
      returnConnection(sequelize, connection, this.timer)
      throw error
    }
    this.#connectionInUse = connection
    this.connection = connection
    storeGreeting(this.sequelize, connection)
  }

  /**
   * Takes the connection away from all code that uses it, including hanging hooks. Such code can run no further
   * statements: neither in the transaction or a savepoint, nor on the connection, nor through continuation-local
   * storage. Never rejects, and returns soon. `pending` is a statement that may still complete the write, or null.
   */
  async abandon(pending: Promise<unknown> | null): Promise<void> {
    rejectStatements(this)
    const connection = this.#connectionInUse
    if (connection === null) return
    if (this.dialect.queuesWrites) return this.abandonSqlite(pending)
    // The server is interrupted before the driver closes the connection, because a closed driver does not report the
    // results of running statements.
    await interrupt(this.sequelize, this.dialect, connection)
    if (pending !== null) await settleSoon(pending)
    await settleSoon(this.closeConnectionInUse(abortConnection))
  }

  /**
   * Marks the connection to be closed instead of returned. A new connection may lead to a server that can perform the
   * write.
   */
  markUnusable(): void {
    this.isUnusable = true
  }

  protected isUnusable = false

  protected abstract acquire(): Promise<Connection>

  /** Gives up the connection on SQLite, which has no server. */
  protected abstract abandonSqlite(pending: Promise<unknown> | null): Promise<void>

  /** Removes and returns the connection. */
  protected removeConnection(): Connection | null {
    this.timer?.stop()
    const connection = this.#connectionInUse
    this.#connectionInUse = null
    return connection
  }

  protected async closeConnectionInUse(close: typeof closeConnection = closeConnection): Promise<void> {
    const connection = this.removeConnection()
    if (connection === null) return
    const { sequelize } = this
    if (this.dialect.queuesWrites)
      await connectionsFor(sequelize)
        .destroyConnection(connection)
        .catch(() => undefined)
    else await close(sequelize, connection)
    connection.uuid = undefined
  }
}

/** Whether a transaction is the begun transaction of a write, or a savepoint in it. */
export function isPartOfWrite(transaction: Transaction): boolean {
  const { parent } = transaction as ParentedTransaction
  return parent ? isPartOfWrite(parent) : transaction instanceof WriteTransaction && transaction.hasBegun
}

type ParentedTransaction = Transaction & { readonly parent?: Transaction | null }

/**
 * Ends a transaction after an error, with all its savepoints. If code catches the error and goes on, its statements are
 * rejected.
 */
export async function endTransaction(transaction: Transaction, error: unknown): Promise<void> {
  const { parent } = transaction as ParentedTransaction
  // A single statement only seems to be in another transaction.
  if (parent && !(transaction instanceof LoneStatement)) return endTransaction(parent, error)
  if (transaction instanceof WriteTransaction) transaction.failure ??= error
  const root = transaction as Transaction & Savepoint
  if (root.finished === undefined) await root.rollback().catch(() => undefined)
  rejectStatements(root)
}

/** Makes Sequelize reject further statements in a transaction. */
function rejectStatements(transaction: Savepoint): void {
  transaction.finished ??= 'rollback'
  for (const savepoint of transaction.savepoints) rejectStatements(savepoint)
}

/** Transaction of a write. After its end, no connection is left in the transaction. */
export class WriteTransaction extends WriteRun {
  declare readonly id: string
  declare readonly options: object
  declare readonly _afterCommitHooks: readonly ((transaction: Transaction) => unknown)[]
  declare readonly _clearCls: () => void
  declare readonly begin: () => Promise<unknown>

  /** Error after which the transaction was rolled back, even if a hook has caught the error. */
  failure: unknown
  hasBegun = false
  #isCommitted = false

  constructor(of: RunSettings, seesCommitted = false) {
    // SQLite locks at BEGIN. A later lock would fail if another connection has written since BEGIN.
    super(of, of.dialect.queuesWrites ? { type: Transaction.TYPES.IMMEDIATE } : isolationOptions(of, seesCommitted))
  }

  /**
   * Begins the transaction on the acquired connection. Only the write timeout applies to BEGIN, COMMIT and ROLLBACK.
   */
  async start(): Promise<void> {
    this.timer?.stop()
    try {
      await this.#begin()
    } catch (error) {
      this.finished ??= 'rollback'
      // The only connection of a database in memory stays open, because another transaction may have caused the
      // failure. A connection to a file is closed, because it may still be in a transaction.
      if (this.connection !== undefined && isSharedConnection(this.connection)) this.#release()
      else await this.closeConnectionInUse()
      throw error
    }
    this.hasBegun = true
    if (this.limit !== null && this.connection !== undefined && !isSharedConnection(this.connection)) {
      await waitForSetup(this.connection)
      // Stopping a write ends the whole transaction on SQLite, and leaves it open on MariaDB.
      this.timer = new StatementTimer(this.sequelize, this.limit, this.connection, {
        onStopped: (error) => endTransaction(this, error),
      })
    }
    enterContext(this)
  }

  /** Gives the connection back to the pool without beginning the transaction. */
  returnBeforeBegin(): void {
    this.finished ??= 'rollback'
    this.#release()
  }

  /** Whether COMMIT has succeeded, regardless of later errors. */
  get isCommitted(): boolean {
    return this.#isCommitted
  }

  override async commit(): Promise<void> {
    this.#assertOpen('committed')
    this.timer?.stop()
    let answer: unknown
    try {
      answer = await this.#end()
    } catch (error) {
      await this.closeConnectionInUse()
      throw error
    }
    this.#release()
    if (isRollbackAnswer(answer))
      throw new Error(
        'The transaction was rolled back: one of its statements failed, and a hook caught the error. Let the hook throw the error.',
      )
    this.#isCommitted = true
    for (const hook of this._afterCommitHooks) await hook.call(this, this)
  }

  /**
   * Begins the transaction like Sequelize. If the host sets an isolation level, Sequelize runs an additional statement.
   */
  #begin(): Promise<unknown> {
    const { sequelize } = this
    if (Reflect.get(this.options, 'isolationLevel')) return this.begin()
    const sql = queryGeneratorOf(sequelize).startTransactionQuery(this)
    return this.#control(sql, (options) => sequelize.getQueryInterface().startTransaction(this, options))
  }

  #end(): Promise<unknown> {
    const { sequelize } = this
    const done = this.#control(queryGeneratorOf(sequelize).commitTransactionQuery(this), (options) =>
      sequelize.getQueryInterface().commitTransaction(this, options),
    )
    this.finished = 'commit'
    return done
  }

  /** Runs a control statement on the driver or through Sequelize. */
  async #control(sql: string, bySequelize: (options: object) => Promise<unknown>): Promise<unknown> {
    // Without this `type`, Sequelize would take the transaction's `type` as the query type.
    const options = { ...this.options, type: QueryTypes.RAW }
    const own = this.connection === undefined ? null : runControl(this.sequelize, this.connection, sql)
    if (own === null) return bySequelize(options)
    try {
      return await own
    } catch (error) {
      const max = remainingAttempts(this.sequelize, error)
      if (max < 1) throw error
      return bySequelize({ ...options, retry: { max } })
    }
  }

  override async rollback(): Promise<void> {
    this.#assertOpen('rolled back')
    this.timer?.stop()
    try {
      await this.sequelize.getQueryInterface().rollbackTransaction(this, this.options)
    } catch (error) {
      await this.closeConnectionInUse()
      throw error
    }
    this.#release()
  }

  protected override async acquire(): Promise<Connection> {
    const connections = connectionsFor(this.sequelize)
    if (!this.dialect.queuesWrites)
      return Object.assign(await connections.getConnection({ uuid: this.id }), { uuid: this.id })
    const connection = await connections.getConnection({ uuid: WRITER })
    // A statement that the previous transaction did not await must not run in this transaction.
    await waitForStatements(connection)
    return Object.assign(connection, { uuid: this.id })
  }

  protected override abandonSqlite(): Promise<void> {
    return this.closeConnectionInUse()
  }

  #assertOpen(what: string): void {
    if (this.finished === undefined) return
    if (this.failure !== undefined) throw this.failure
    throw new Error(`The transaction cannot be ${what}: ${this.finished} has been called on it already.`)
  }

  #release(): void {
    if (this.isUnusable || this.timer?.isStopSent) {
      this._clearCls()
      void this.closeConnectionInUse()
      return
    }
    const connection = this.removeConnection()
    if (connection === null) return
    this._clearCls()
    // Sequelize finds and closes SQLite connections by this id.
    if (this.dialect.queuesWrites) connection.uuid = undefined
    connectionsFor(this.sequelize).releaseConnection(connection)
    connection.uuid = undefined
  }
}

/**
 * Returns READ COMMITTED if `seesCommitted` is true. MySQL's repeatable read would return all rows as of the first
 * read.
 */
function isolationOptions(
  { dialect }: RunSettings,
  seesCommitted: boolean,
): ConstructorParameters<typeof Transaction>[1] {
  return seesCommitted && dialect.readsSnapshots ? { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED } : {}
}

/**
 * Whether PostgreSQL has answered COMMIT with a rollback. PostgreSQL rolls back an aborted transaction and reports no
 * error.
 */
function isRollbackAnswer(answer: unknown): boolean {
  const [, result] = Array.isArray(answer) ? answer : [null, answer]
  return (result as { command?: unknown } | undefined)?.command === 'ROLLBACK'
}

/**
 * Placeholder for an enclosing transaction. Without an enclosing transaction, Sequelize generates a random name, which
 * takes longer than the rest of a single statement.
 */
const ENCLOSING_TRANSACTION: Transaction = Object.create(Transaction.prototype, {
  id: { value: 'statement' },
  savepoints: { get: () => [] },
})

/** A write of one statement that needs no transaction. */
export class LoneStatement extends WriteRun {
  constructor(of: RunSettings) {
    super(of, { transaction: ENCLOSING_TRANSACTION })
  }

  release(): void {
    if (this.isUnusable) return void this.closeConnectionInUse()
    const connection = this.removeConnection()
    if (connection !== null) returnConnection(this.sequelize, connection, this.timer)
  }

  /** Sequelize calls `rollback` after a deadlock, but there is no transaction to roll back. */
  override async rollback(): Promise<void> {}

  protected override acquire(): Promise<Connection> {
    const own = this.limit !== null && this.dialect.queuesWrites ? { uuid: WRITER } : {}
    return connectionsFor(this.sequelize).getConnection({ useMaster: true, ...own, ...limitOptionsOf(this.limit) })
  }

  /**
   * Waits for the statement, which cannot be stopped because other code uses the connection too. The driver does not
   * wait long for a lock.
   */
  protected override async abandonSqlite(pending: Promise<unknown> | null): Promise<void> {
    await pending?.catch(() => undefined)
  }
}
