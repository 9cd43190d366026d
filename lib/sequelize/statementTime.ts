// Statement timeouts. This process measures the time and stops statements on the server. Setting and resetting a server's own timeout costs
// two round trips per statement, and another user of the pooled connection could inherit it. If the server does not respond, its connection
// is closed.

import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import type { Leaving } from '../../types/call.js'
import { type Connection, closeConnection, connectionsFor, cutConnection, endStatement } from './connections.js'
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
export class StatementLeft extends Error {
  constructor(cause: unknown) {
    super('Nobody waits for the statement any more.', { cause })
    this.name = 'StatementLeft'
  }
}

/** @throws StatementLeft if the client disconnected before the statement was sent */
export function assertAwaited(leaving: Leaving | null): void {
  if (leaving?.isLeft) throw new StatementLeft(null)
}

/** Statement timeout of a resource. It is a class because Sequelize copies plain objects in its options. */
export class StatementLimit {
  readonly milliseconds: number
  /** Client that waits for a read. Null if no client can disconnect. */
  readonly leaving: Leaving | null
  readonly #dialect: () => Dialect

  constructor(milliseconds: number, dialect: () => Dialect, leaving: Leaving | null = null) {
    this.milliseconds = milliseconds
    this.leaving = leaving
    this.#dialect = dialect
  }

  /** The same limit for reads, which also end if the client disconnects. */
  heeding(leaving: Leaving): StatementLimit {
    return new StatementLimit(this.milliseconds, this.#dialect, leaving)
  }

  get dialect(): Dialect {
    return this.#dialect()
  }
}

/** Callback of a driver at the end of a statement. */
type Done = (this: unknown, error: unknown, ...result: unknown[]) => void

/** Creates the error of a stopped statement from the driver's error. */
type Failing = (cause: unknown) => Error

/** Methods of the SQLite driver that run statements. */
const METHODS = ['all', 'run'] as const

/** Milliseconds for a server to respond after the request to stop a statement. Then the connection is closed. */
const GRACE = 2000
/** Milliseconds after which the request to stop is repeated. */
const PATIENCE = 250
/** Interval for SQLite, which cannot stop a statement before it starts. */
const INTERVAL = 20

/** Limits the time of each statement on an exclusive connection. A result that arrives counts, even if it is late. */
export class StatementClock {
  readonly #sequelize: Sequelize
  readonly #limit: StatementLimit
  readonly #connection: Connection
  readonly #leaving: Leaving | null
  readonly #undo: readonly (() => void)[]
  #hasEnded = false

  /** `leaving`: the client that waits for reads. Other statements ignore disconnects. */
  constructor(sequelize: Sequelize, limit: StatementLimit, connection: Connection, leaving: Leaving | null = null) {
    this.#sequelize = sequelize
    this.#limit = limit
    this.#connection = connection
    this.#leaving = leaving
    this.#undo = limit.dialect.interrupt === null ? METHODS.map((name) => this.#watchAll(name)) : []
    clocks.set(connection, this)
  }

  /** Whether a request to stop was sent. It may arrive late and would stop the next statement. */
  get isTainted(): boolean {
    return this.#hasEnded && this.#limit.dialect.interrupt !== null
  }

  stop(): void {
    if (clocks.get(this.#connection) !== this) return
    clocks.delete(this.#connection)
    for (const undo of this.#undo) undo()
  }

  /** Starts the timeout of a statement that the driver has received. */
  run<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const told = this.watch((error, value) => (error === null ? resolve(value as T) : reject(error)))
      answer.then(
        (value) => told.call(undefined, null, value),
        (error: unknown) => told.call(undefined, error),
      )
    })
  }

  /** Starts the timeout of a statement. Returns a callback to use instead of `done`. */
  watch(done: Done): Done {
    const limit = this.#limit
    let isTold = false
    let sent: Promise<void> | null = null
    let failure: Failing | null = null
    const end = async (by: Failing): Promise<void> => {
      if (failure !== null) return
      failure = by
      const isServer = limit.dialect.interrupt !== null
      this.#hasEnded = true
      const late = isServer ? [wait(GRACE, true, { ref: false })] : []
      for (let isLate = false; !isTold && !isLate; ) {
        sent = endStatement(this.#sequelize, limit.dialect, this.#connection)
        const again = sent.then(() => isTold || wait(isServer ? PATIENCE : INTERVAL, false, { ref: false }))
        isLate = await Promise.race([again, ...late])
      }
      if (isTold) return
      over()
      void cutConnection(this.#sequelize, this.#connection)
      done.call(undefined, by(null))
    }
    const timer = setTimeout(() => void end((cause) => new StatementTimeout(limit, cause)), limit.milliseconds)
    timer.unref()
    const stay = this.#leaving?.whenLeft(() => void end((cause) => new StatementLeft(cause)))
    const over = (): void => {
      isTold = true
      clearTimeout(timer)
      stay?.()
    }
    return function told(error, ...result) {
      if (isTold) return
      over()
      if (sent === null) return done.call(this, error, ...result)
      const failed = error === null || error === undefined || failure === null ? error : failure(error)
      // Waits for the request to stop, which would otherwise stop the next statement.
      void sent.then(() => done.call(this, failed, ...result))
    }
  }

  /** Watches a method of the SQLite driver. Returns a function that undoes it. */
  #watchAll(name: (typeof METHODS)[number]): () => void {
    const connection = this.#connection
    const method: unknown = Reflect.get(connection, name)
    if (typeof method !== 'function') return () => undefined
    const own = Object.getOwnPropertyDescriptor(connection, name)
    const watched = (...given: unknown[]): unknown => {
      const done = given.at(-1)
      const rest = typeof done === 'function' ? [this.watch(whenIdle(done as Done))] : [done]
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
 * Delays a callback until the connection is idle. After a one-time statement the SQLite driver waits for the connection and blocks the
 * process. If another statement ran by then, timers would not fire until it ends.
 */
function whenIdle(done: Done): Done {
  return function told(error, ...result) {
    setImmediate(() => done.call(this, error, ...result))
  }
}

const clocks = new WeakMap<object, StatementClock>()

/** Timeout clock of a connection, if it has one. */
export function clockOf(connection: object): StatementClock | undefined {
  return clocks.get(connection)
}

/** Result of a statement that the driver has received, within the timeout of its connection. */
export function timedAnswer<T>(connection: object, answer: Promise<T>): Promise<T> {
  return clockOf(connection)?.run(answer) ?? answer
}

/** Returns a connection to the pool. It is closed if a request to stop was sent, because that could stop the next statement. */
export function giveBack(sequelize: Sequelize, connection: Connection, clock: StatementClock | null): void {
  clock?.stop()
  if (clock?.isTainted) void closeConnection(sequelize, connection)
  else connectionsFor(sequelize).releaseConnection(connection)
}

/** Whether a connection is the shared connection of a SQLite database in memory. A statement cannot be stopped there without affecting others. */
export function isShared(connection: object): boolean {
  return Reflect.get(connection, 'filename') === ':memory:'
}

/** Runs work with a statement timeout on a connection of the host. The host keeps the connection. */
export async function timedOn<T>(
  sequelize: Sequelize,
  limit: StatementLimit | null,
  connection: Connection | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (limit === null || connection === undefined || clockOf(connection) !== undefined) return work()
  if (isShared(connection)) return work()
  const clock = new StatementClock(sequelize, limit, connection)
  try {
    return await work()
  } finally {
    clock.stop()
  }
}
