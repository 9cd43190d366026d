import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import {
  type Connection,
  closeConnection,
  connectionsFor,
  cutConnection,
  interrupt,
  limitedTo,
  patiently,
} from './connections.js'
import { control, triesLeft } from './control.js'
import type { Dialect } from './dialect/index.js'
import { generator } from './internals.js'
import { statementLogging } from './logging.js'
import { hear } from './server.js'
import { checkSession } from './session.js'
import { giveBack, isShared, StatementClock, type StatementLimit } from './statementTime.js'
import { idle, quiet, WRITER } from './timedConnections.js'
import { enterContext } from './transaction.js'

/** A savepoint in a transaction. Sequelize represents it as a transaction too. */
interface Savepoint {
  readonly savepoints: readonly Savepoint[]
  finished?: 'commit' | 'rollback'
}

/** Database and statement timeout of a run. */
export interface RunOf {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  readonly limit: StatementLimit | null
}

/** Context for the statements of a write: a Sequelize transaction whose connection can be taken away. */
abstract class WriteRun extends Transaction {
  declare readonly sequelize: Sequelize
  declare readonly savepoints: readonly Savepoint[]
  declare connection?: Connection
  declare finished?: 'commit' | 'rollback'

  protected readonly dialect: Dialect
  protected readonly limit: StatementLimit | null
  protected clock: StatementClock | null = null
  #held: Connection | null = null

  constructor({ sequelize, dialect, limit }: RunOf, options: ConstructorParameters<typeof Transaction>[1]) {
    super(sequelize, { ...options, ...statementLogging(sequelize) })
    this.dialect = dialect
    this.limit = limit
  }

  /** Waits for a connection. */
  async take(): Promise<void> {
    const { sequelize, limit } = this
    const connection = await this.acquire()
    if (limit !== null && !this.dialect.queuesWrites) this.clock = new StatementClock(sequelize, limit, connection)
    try {
      await checkSession(sequelize, connection)
    } catch (error) {
      giveBack(sequelize, connection, this.clock)
      throw error
    }
    this.#held = connection
    this.connection = connection
    hear(this.sequelize, connection)
  }

  /**
   * Takes the connection away from everything that uses it, including hanging hooks. They cannot run further statements in the transaction,
   * a savepoint, on the connection or by continuation-local storage. Never rejects, and returns soon. `pending` is a statement whose result
   * counts, if any.
   */
  async giveUp(pending: Promise<unknown> | null): Promise<void> {
    close(this)
    const held = this.#held
    if (held === null) return
    if (this.dialect.queuesWrites) return this.drop(pending)
    // Before the driver closes the connection: afterwards it does not report the results of running statements.
    await interrupt(this.sequelize, this.dialect, held)
    if (pending !== null) await patiently(pending)
    await patiently(this.destroy(cutConnection))
  }

  /** Closes the connection instead of returning it: a new connection may lead to a server that can perform the write. */
  spoil(): void {
    this.isSpoilt = true
  }

  protected isSpoilt = false

  protected abstract acquire(): Promise<Connection>

  /** Gives up the connection on SQLite, which has no server. */
  protected abstract drop(pending: Promise<unknown> | null): Promise<void>

  /** Removes and returns the connection. */
  protected letGo(): Connection | null {
    this.clock?.stop()
    const held = this.#held
    this.#held = null
    return held
  }

  protected async destroy(close: typeof closeConnection = closeConnection): Promise<void> {
    const connection = this.letGo()
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

/** Makes Sequelize reject further statements in a transaction. */
function close(transaction: Savepoint): void {
  transaction.finished ??= 'rollback'
  for (const savepoint of transaction.savepoints) close(savepoint)
}

/** Transaction of a write. After its end, no connection is left in the transaction. */
export class WriteTransaction extends WriteRun {
  declare readonly id: string
  declare readonly options: object
  declare readonly _afterCommitHooks: readonly ((transaction: Transaction) => unknown)[]
  declare readonly _clearCls: () => void
  declare readonly begin: () => Promise<unknown>

  #isCommitted = false

  constructor(of: RunOf, seesCommitted = false) {
    // SQLite locks at once: a later lock fails if another connection has written since BEGIN.
    super(of, of.dialect.queuesWrites ? { type: Transaction.TYPES.IMMEDIATE } : isolation(of, seesCommitted))
  }

  /** Begins the transaction on the acquired connection. BEGIN, COMMIT and ROLLBACK have the write timeout only. */
  async start(): Promise<void> {
    this.clock?.stop()
    try {
      await this.#begin()
    } catch (error) {
      this.finished ??= 'rollback'
      // In memory, where another transaction may cause the failure, the connection is kept unchanged. The connection of a file may still be
      // in a transaction.
      if (this.connection !== undefined && isShared(this.connection)) this.#release()
      else await this.destroy()
      throw error
    }
    if (this.limit !== null && this.connection !== undefined && !isShared(this.connection)) {
      await idle(this.connection)
      this.clock = new StatementClock(this.sequelize, this.limit, this.connection)
    }
    enterContext(this)
  }

  /** Returns the connection before BEGIN. */
  leave(): void {
    this.finished ??= 'rollback'
    this.#release()
  }

  /** Whether COMMIT has succeeded, regardless of later errors. */
  get isCommitted(): boolean {
    return this.#isCommitted
  }

  override async commit(): Promise<void> {
    this.#assertOpen('committed')
    this.clock?.stop()
    let answer: unknown
    try {
      answer = await this.#end()
    } catch (error) {
      await this.destroy()
      throw error
    }
    this.#release()
    if (isRolledBack(answer)) throw new Error('A statement of the transaction failed, and a hook caught its error.')
    this.#isCommitted = true
    for (const hook of this._afterCommitHooks) await hook.call(this, this)
  }

  /** Begins like Sequelize. If the host sets an isolation level, Sequelize runs an additional statement. */
  #begin(): Promise<unknown> {
    const { sequelize } = this
    if (Reflect.get(this.options, 'isolationLevel')) return this.begin()
    const sql = generator(sequelize).startTransactionQuery(this)
    return this.#control(sql, (options) => sequelize.getQueryInterface().startTransaction(this, options))
  }

  #end(): Promise<unknown> {
    const { sequelize } = this
    const done = this.#control(generator(sequelize).commitTransactionQuery(this), (options) =>
      sequelize.getQueryInterface().commitTransaction(this, options),
    )
    this.finished = 'commit'
    return done
  }

  /** Runs a control statement on the driver or through Sequelize. */
  async #control(sql: string, bySequelize: (options: object) => Promise<unknown>): Promise<unknown> {
    // Otherwise the transaction's `type` would be taken as the query type.
    const options = { ...this.options, type: QueryTypes.RAW }
    const own = this.connection === undefined ? null : control(this.sequelize, this.connection, sql)
    if (own === null) return bySequelize(options)
    try {
      return await own
    } catch (error) {
      const max = triesLeft(this.sequelize, error)
      if (max < 1) throw error
      return bySequelize({ ...options, retry: { max } })
    }
  }

  override async rollback(): Promise<void> {
    this.#assertOpen('rolled back')
    this.clock?.stop()
    try {
      await this.sequelize.getQueryInterface().rollbackTransaction(this, this.options)
    } catch (error) {
      await this.destroy()
      throw error
    }
    this.#release()
  }

  protected override async acquire(): Promise<Connection> {
    const connections = connectionsFor(this.sequelize)
    if (!this.dialect.queuesWrites)
      return Object.assign(await connections.getConnection({ uuid: this.id }), { uuid: this.id })
    const handle = await connections.getConnection({ uuid: WRITER })
    // A statement that the previous transaction did not await must not run in this one.
    await quiet(handle)
    return Object.assign(handle, { uuid: this.id })
  }

  protected override drop(): Promise<void> {
    return this.destroy()
  }

  #assertOpen(what: string): void {
    if (this.finished === undefined) return
    throw new Error(`The transaction cannot be ${what}: ${this.finished} has been called on it already.`)
  }

  #release(): void {
    if (this.isSpoilt || this.clock?.isTainted) {
      this._clearCls()
      void this.destroy()
      return
    }
    const connection = this.letGo()
    if (connection === null) return
    this._clearCls()
    // Sequelize finds and closes SQLite connections by this id.
    if (this.dialect.queuesWrites) connection.uuid = undefined
    connectionsFor(this.sequelize).releaseConnection(connection)
    connection.uuid = undefined
  }
}

/** MySQL's repeatable read shows all rows as of the first read. `seesCommitted` selects READ COMMITTED. */
function isolation({ dialect }: RunOf, seesCommitted: boolean): ConstructorParameters<typeof Transaction>[1] {
  return seesCommitted && dialect.readsSnapshots ? { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED } : {}
}

/** Whether PostgreSQL answers COMMIT with a rollback, because it had aborted the transaction. It reports no error. */
function isRolledBack(answer: unknown): boolean {
  const [, result] = Array.isArray(answer) ? answer : [null, answer]
  return (result as { command?: unknown } | undefined)?.command === 'ROLLBACK'
}

/**
 * Stands in for an enclosing transaction. Without one, Sequelize generates a random name, which takes longer than the rest of a single
 * statement. It stores nothing.
 */
const AROUND: Transaction = Object.create(Transaction.prototype, {
  id: { value: 'statement' },
  savepoints: { get: () => [] },
})

/** A write of one statement that needs no transaction. */
export class LoneStatement extends WriteRun {
  constructor(of: RunOf) {
    super(of, { transaction: AROUND })
  }

  release(): void {
    if (this.isSpoilt) return void this.destroy()
    const connection = this.letGo()
    if (connection !== null) giveBack(this.sequelize, connection, this.clock)
  }

  /** Sequelize calls this after a deadlock. There is no transaction to roll back. */
  override async rollback(): Promise<void> {}

  protected override acquire(): Promise<Connection> {
    const own = this.limit !== null && this.dialect.queuesWrites ? { uuid: WRITER } : {}
    return connectionsFor(this.sequelize).getConnection({ useMaster: true, ...own, ...limitedTo(this.limit) })
  }

  /** Other code uses the connection too, and the driver does not wait long for a lock. The statement is not retried. */
  protected override async drop(pending: Promise<unknown> | null): Promise<void> {
    await pending?.catch(() => undefined)
  }
}
