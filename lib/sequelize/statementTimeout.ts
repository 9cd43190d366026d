// Statement timeouts. This process measures the time and stops statements on the server. Setting and resetting a server's own timeout costs
// two round trips per statement, and another user of the pooled connection could inherit it. If the server does not respond, its connection
// is closed.

import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import type { ClientConnection } from '../../types/call.js'
import { abortConnection, type Connection, closeConnection, connectionsFor, stopStatement } from './connections.js'
import type { Dialect } from './dialect/index.js'

/** Error of a stopped statement. The driver's error is its cause. */
export class StatementTimeout extends Error {
  /** Dialect name, for printing the error without values. */
  readonly dialect: string

  constructor({ milliseconds, dialect }: StatementLimit, cause: unknown) {
    super(`The statement did not end within the ${milliseconds} milliseconds of limits.statementTime.`, { cause })
    this.name = 'StatementTimeout'
    this.dialect = dialect.name
  }
}

/** Error of a statement whose client disconnected. The statement was stopped, or not started. */
export class StatementAborted extends Error {
  constructor(cause: unknown) {
    super('The statement was cancelled, because its client has disconnected.', { cause })
    this.name = 'StatementLeft'
  }
}

/**
 * Checks that the client is still connected before a statement is sent.
 * @throws StatementAborted if the client has disconnected
 */
export function assertConnected(client: ClientConnection | null): void {
  if (client?.isDisconnected) throw new StatementAborted(null)
}

/** Statement timeout of a resource. A class is needed, because Sequelize copies plain objects in its options. */
export class StatementLimit {
  readonly milliseconds: number
  /** Client that waits for a read. null if no client can disconnect. */
  readonly client: ClientConnection | null
  readonly #dialect: () => Dialect

  constructor(milliseconds: number, dialect: () => Dialect, client: ClientConnection | null = null) {
    this.milliseconds = milliseconds
    this.client = client
    this.#dialect = dialect
  }

  /** Returns the limit for reads that also end if the client disconnects. */
  withClient(client: ClientConnection): StatementLimit {
    return new StatementLimit(this.milliseconds, this.#dialect, client)
  }

  get dialect(): Dialect {
    return this.#dialect()
  }
}

/** Callback of a driver at the end of a statement. */
type EndCallback = (this: unknown, error: unknown, ...result: unknown[]) => void

/** Creates the error of a stopped statement from the driver's error. */
type CreateError = (cause: unknown) => Error

/** Methods of the SQLite driver that run statements. */
const METHODS = ['all', 'run'] as const

/**
 * Time for a server to respond to the request to stop a statement, in milliseconds. Afterwards the connection is
 * closed.
 */
const STOP_TIME = 2000
/** Milliseconds after which the request to stop is repeated. */
const REPEAT_TIME = 250
/** Milliseconds between interrupts of SQLite, which cannot stop a statement before it starts. */
const INTERVAL = 20
/**
 * Number of consecutive timers that measure a timeout. While other work blocks the process, drivers can neither start
 * statements nor receive results. However long that takes, it counts as one part.
 */
const PARTS = 4

/** Settings of a statement timer. */
interface TimerOptions {
  /** Client that waits for reads. Other statements ignore disconnects. Default: no client. */
  readonly client?: ClientConnection | null
  /** Whether statements on the connection are writes outside of a transaction. Default: false. */
  readonly autocommits?: boolean
  /** Called when a statement was stopped, before its caller receives the error. Default: nothing. */
  readonly onStopped?: (error: Error) => Promise<unknown>
}

/**
 * Limits the time of each statement on an exclusive connection. A result counts even if it arrives late, except on
 * MariaDB and MySQL, which may answer a stopped statement with wrong values and no error. There, only the result of a
 * write outside of a transaction counts, because the write is stored.
 */
export class StatementTimer {
  readonly #sequelize: Sequelize
  readonly #limit: StatementLimit
  readonly #connection: Connection
  readonly #client: ClientConnection | null
  readonly #autocommits: boolean
  readonly #onStopped: (error: Error) => Promise<unknown>
  readonly #undoFunctions: readonly (() => void)[]
  #hasEnded = false

  constructor(
    sequelize: Sequelize,
    limit: StatementLimit,
    connection: Connection,
    { client = null, autocommits = false, onStopped = async () => undefined }: TimerOptions = {},
  ) {
    this.#sequelize = sequelize
    this.#limit = limit
    this.#connection = connection
    this.#client = client
    this.#autocommits = autocommits
    this.#onStopped = onStopped
    this.#undoFunctions = limit.dialect.interrupt === null ? METHODS.map((name) => this.#limitMethod(name)) : []
    timersByConnection.set(connection, this)
  }

  /** Whether a request to stop was sent. A late request would stop the next statement. */
  get isStopSent(): boolean {
    return this.#hasEnded && this.#limit.dialect.interrupt !== null
  }

  stop(): void {
    if (timersByConnection.get(this.#connection) !== this) return
    timersByConnection.delete(this.#connection)
    for (const undo of this.#undoFunctions) undo()
  }

  /** Starts the timeout of a statement that the driver has received. */
  run<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = this.limit((error, value) => (error === null ? resolve(value as T) : reject(error)))
      answer.then(
        (value) => settle.call(undefined, null, value),
        (error: unknown) => settle.call(undefined, error),
      )
    })
  }

  /** Starts the timeout of a statement. Returns a callback to use instead of `done`. */
  limit(done: EndCallback): EndCallback {
    const limit = this.#limit
    const onStopped = this.#onStopped
    const countsLate = this.#autocommits || !limit.dialect.interrupt?.kill
    let isEnded = false
    let cancelling: Promise<void> | null = null
    let failure: CreateError | null = null
    const end = async (by: CreateError): Promise<void> => {
      if (isEnded || failure !== null) return
      failure = by
      const isServer = limit.dialect.interrupt !== null
      this.#hasEnded = true
      const late = isServer ? [wait(STOP_TIME, true, { ref: false })] : []
      for (let isLate = false; !isEnded && !isLate; ) {
        cancelling = stopStatement(this.#sequelize, limit.dialect, this.#connection, () => !isEnded)
        const again = cancelling.then(() => isEnded || wait(isServer ? REPEAT_TIME : INTERVAL, false, { ref: false }))
        isLate = await Promise.race([again, ...late])
      }
      if (isEnded) return
      over()
      void abortConnection(this.#sequelize, this.#connection)
      done.call(undefined, by(null))
    }
    let left = PARTS
    const timer = setTimeout(() => {
      left -= 1
      if (left > 0) timer.refresh()
      else void end((cause) => new StatementTimeout(limit, cause))
    }, limit.milliseconds / PARTS)
    timer.unref()
    const stay = this.#client?.onDisconnect(() => void end((cause) => new StatementAborted(cause)))
    const over = (): void => {
      isEnded = true
      clearTimeout(timer)
      stay?.()
    }
    return function limited(error, ...result) {
      if (isEnded) return
      over()
      if (cancelling === null || failure === null) return done.call(this, error, ...result)
      const isSuccess = countsLate && (error === null || error === undefined)
      const failed = isSuccess ? null : failure(error)
      // Waits for the request to stop, which would otherwise stop the next statement.
      void cancelling
        .then(() => failed !== null && onStopped(failed))
        .then(() => done.call(this, failed ?? error, ...result))
    }
  }

  /** Applies the timeout to a method of the SQLite driver. Returns a function that restores the method. */
  #limitMethod(name: (typeof METHODS)[number]): () => void {
    const connection = this.#connection
    const method: unknown = Reflect.get(connection, name)
    if (typeof method !== 'function') return () => undefined
    const own = Object.getOwnPropertyDescriptor(connection, name)
    const watched = (...given: unknown[]): unknown => {
      const done = given.at(-1)
      const rest = typeof done === 'function' ? [this.limit(callWhenIdle(done as EndCallback))] : [done]
      return method.apply(connection, [...given.slice(0, -1), ...rest])
    }
    Object.defineProperty(connection, name, { value: watched, configurable: true, writable: true })
    return () => {
      if (own === undefined) Reflect.deleteProperty(connection, name)
      else Object.defineProperty(connection, name, own)
    }
  }
}

/**
 * Delays a callback until the connection is idle. After the callback of the connection's `all` or `run`, the SQLite
 * driver waits for the connection and blocks the process. If the callback started another statement at once, no timer
 * would fire until that statement ends.
 */
function callWhenIdle(done: EndCallback): EndCallback {
  return function deferred(error, ...result) {
    setImmediate(() => done.call(this, error, ...result))
  }
}

const timersByConnection = new WeakMap<object, StatementTimer>()

/** Returns the statement timer of a connection, or undefined if the connection has none. */
export function timerOf(connection: object): StatementTimer | undefined {
  return timersByConnection.get(connection)
}

/** Waits for the result of a statement that the driver has received, within the timeout of its connection. */
export function limitAnswer<T>(connection: object, answer: Promise<T>): Promise<T> {
  return timerOf(connection)?.run(answer) ?? answer
}

/**
 * Returns a connection to the pool. Closes the connection instead if a request to stop was sent, because a late request
 * would stop the next statement.
 */
export function returnConnection(sequelize: Sequelize, connection: Connection, timer: StatementTimer | null): void {
  timer?.stop()
  if (timer?.isStopSent) void closeConnection(sequelize, connection)
  else connectionsFor(sequelize).releaseConnection(connection)
}

/**
 * Whether a connection is the shared connection of a SQLite database in memory. Stopping a statement on this connection
 * would affect other statements.
 */
export function isSharedConnection(connection: object): boolean {
  return Reflect.get(connection, 'filename') === ':memory:'
}

/** Runs work with a statement timeout on a connection of the host. The host keeps the connection. */
export function runTimed<T>(
  sequelize: Sequelize,
  limit: StatementLimit | null,
  connection: Connection | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (limit === null || connection === undefined || timerOf(connection) !== undefined) return work()
  return isSharedConnection(connection) ? work() : stopAfter(new StatementTimer(sequelize, limit, connection), work)
}

async function stopAfter<T>(timer: StatementTimer, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    timer.stop()
  }
}
