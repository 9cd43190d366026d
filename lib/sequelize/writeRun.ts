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

/** A savepoint in a transaction, which Sequelize takes for a transaction too. */
interface Savepoint {
  readonly savepoints: readonly Savepoint[]
  finished?: 'commit' | 'rollback'
}

/** What a run is of: a database, and how long its statements may take there. */
export interface RunOf {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
  readonly limit: StatementLimit | null
}

/** What the statements of a write run in: a transaction to Sequelize, whose connection can be taken away. */
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
   * Takes the connection away from whoever works on it, hooks that hang among them. They can do nothing more: neither here
   * nor in a savepoint, nor on the connection itself, nor by continuation-local storage, where all stays as it is. It never
   * rejects, and ends soon. `pending` is a statement whose outcome counts, if there is one.
   */
  async giveUp(pending: Promise<unknown> | null): Promise<void> {
    close(this)
    const held = this.#held
    if (held === null) return
    if (this.dialect.queuesWrites) return this.drop(pending)
    // Before the driver ends the connection: then it no longer tells what is under way how that has ended.
    await interrupt(this.sequelize, this.dialect, held)
    if (pending !== null) await patiently(pending)
    await patiently(this.destroy(cutConnection))
  }

  /** Closes the connection in the place of giving it back: another one may lead to a server that does what this one refuses. */
  spoil(): void {
    this.isSpoilt = true
  }

  protected isSpoilt = false

  protected abstract acquire(): Promise<Connection>

  /** The same on SQLite, where there is no server that could be asked. */
  protected abstract drop(pending: Promise<unknown> | null): Promise<void>

  /** The connection, for the last time. */
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

/** From here on Sequelize refuses every statement in it. */
function close(transaction: Savepoint): void {
  transaction.finished ??= 'rollback'
  for (const savepoint of transaction.savepoints) close(savepoint)
}

/** The transaction of a write. However it ends, no connection is left behind that is still in it. */
export class WriteTransaction extends WriteRun {
  declare readonly id: string
  declare readonly options: object
  declare readonly _afterCommitHooks: readonly ((transaction: Transaction) => unknown)[]
  declare readonly _clearCls: () => void
  declare readonly begin: () => Promise<unknown>

  #isCommitted = false

  constructor(of: RunOf, seesCommitted = false) {
    // SQLite takes the lock at once: a later one fails where somebody has written since the BEGIN.
    super(of, of.dialect.queuesWrites ? { type: Transaction.TYPES.IMMEDIATE } : isolation(of, seesCommitted))
  }

  /** Begins on the connection that was taken. BEGIN and the end of the transaction have no limit but that of the write. */
  async start(): Promise<void> {
    this.clock?.stop()
    try {
      await this.#begin()
    } catch (error) {
      this.finished ??= 'rollback'
      // In memory, where another transaction may be why it fails, the handle must stay as it is. That of a file may be in one.
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

  /** Gives the connection back, on which nothing has begun. */
  leave(): void {
    this.finished ??= 'rollback'
    this.#release()
  }

  /** Whether the COMMIT has succeeded, whatever becomes of what follows it. */
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

  /** As Sequelize's `begin`, which is asked where the host wants a level of isolation: that is one statement more. */
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

  /** Begins or ends it at the driver, or as Sequelize does. */
  async #control(sql: string, bySequelize: (options: object) => Promise<unknown>): Promise<unknown> {
    // Its own `type`, which is the transaction's, would be taken for the statement's.
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
    // What somebody did not wait for in the transaction before is not to run in this one.
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
    // By it Sequelize finds SQLite's handle, and closes it.
    if (this.dialect.queuesWrites) connection.uuid = undefined
    connectionsFor(this.sequelize).releaseConnection(connection)
    connection.uuid = undefined
  }
}

/** MySQL shows a transaction all rows as they were when it first read, unless it is asked for what is committed. */
function isolation({ dialect }: RunOf, seesCommitted: boolean): ConstructorParameters<typeof Transaction>[1] {
  return seesCommitted && dialect.readsSnapshots ? { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED } : {}
}

/** PostgreSQL's answer to the COMMIT of a transaction that it had given up before. It is no error. */
function isRolledBack(answer: unknown): boolean {
  const [, result] = Array.isArray(answer) ? answer : [null, answer]
  return (result as { command?: unknown } | undefined)?.command === 'ROLLBACK'
}

/**
 * Stands for the transaction that another one is within: Sequelize draws a random name for each that is in none, which takes longer
 * than everything else that a lone statement needs. It remembers nobody.
 */
const AROUND: Transaction = Object.create(Transaction.prototype, {
  id: { value: 'statement' },
  savepoints: { get: () => [] },
})

/** The one statement of a write that needs no transaction. */
export class LoneStatement extends WriteRun {
  constructor(of: RunOf) {
    super(of, { transaction: AROUND })
  }

  release(): void {
    if (this.isSpoilt) return void this.destroy()
    const connection = this.letGo()
    if (connection !== null) giveBack(this.sequelize, connection, this.clock)
  }

  /** Sequelize rolls back after a deadlock. Nothing was begun here. */
  override async rollback(): Promise<void> {}

  protected override acquire(): Promise<Connection> {
    const own = this.limit !== null && this.dialect.queuesWrites ? { uuid: WRITER } : {}
    return connectionsFor(this.sequelize).getConnection({ useMaster: true, ...own, ...limitedTo(this.limit) })
  }

  /** Others use the handle too, and the driver does not wait for a lock for long; but the statement is not tried again. */
  protected override async drop(pending: Promise<unknown> | null): Promise<void> {
    await pending?.catch(() => undefined)
  }
}
