// Statements that take longer than a resource lets them are ended where they run. The clock is this process's: to set a
// server's own and to take it back costs two round trips for each statement, and what is set on a connection of a pool,
// others may get. A server that gives no answer even then has its connection closed.

import { setTimeout as wait } from 'node:timers/promises'
import type { Sequelize } from 'sequelize'
import type { Leaving } from '../../types/call.js'
import { type Connection, closeConnection, connectionsFor, cutConnection, endStatement } from './connections.js'
import type { Dialect } from './dialect/index.js'

/** What a statement that was ended has failed with; the driver's own error is its cause. */
export class StatementTimeout extends Error {
  /** Whose statement it was: so that it can be printed without its values. */
  readonly dialect: string

  constructor({ milliseconds, dialect }: StatementLimit, cause: unknown) {
    super(`The statement did not end within the ${milliseconds} milliseconds of limits.statementTime.`, { cause })
    this.name = 'StatementTimeout'
    this.dialect = dialect.name
  }
}

/** What one that nobody waits for any more has failed with, be it that it was ended or that it has not begun. */
export class StatementLeft extends Error {
  constructor(cause: unknown) {
    super('Nobody waits for the statement any more.', { cause })
    this.name = 'StatementLeft'
  }
}

/** @throws StatementLeft where whoever waited for a statement has left before it was sent */
export function assertAwaited(leaving: Leaving | null): void {
  if (leaving?.isLeft) throw new StatementLeft(null)
}

/** How long the statements of a resource may take. A class, since Sequelize copies plain objects among its options. */
export class StatementLimit {
  readonly milliseconds: number
  /** Who waits for what is read; null for nobody who could go. */
  readonly leaving: Leaving | null
  readonly #dialect: () => Dialect

  constructor(milliseconds: number, dialect: () => Dialect, leaving: Leaving | null = null) {
    this.milliseconds = milliseconds
    this.leaving = leaving
    this.#dialect = dialect
  }

  /** The same for statements that only read, which end as well when a caller goes. */
  heeding(leaving: Leaving): StatementLimit {
    return new StatementLimit(this.milliseconds, this.#dialect, leaving)
  }

  get dialect(): Dialect {
    return this.#dialect()
  }
}

/** How a driver tells the end of a statement. */
type Done = (this: unknown, error: unknown, ...result: unknown[]) => void

/** What makes the error of a statement that was ended, of what the driver said. */
type Failing = (cause: unknown) => Error

/** The methods by which SQLite's driver runs statements. */
const METHODS = ['all', 'run'] as const

/** Milliseconds within which a server has to answer once it was told to end a statement. Then the connection is closed. */
const GRACE = 2000
/** Milliseconds after which the server is told again. */
const PATIENCE = 250
/** The same for SQLite, where a statement that has not begun yet cannot be ended. */
const INTERVAL = 20

/**
 * Limits the time of every statement of a connection that nobody else uses meanwhile. What the database answers counts, as long
 * as it answers.
 */
export class StatementClock {
  readonly #sequelize: Sequelize
  readonly #limit: StatementLimit
  readonly #connection: Connection
  readonly #leaving: Leaving | null
  readonly #undo: readonly (() => void)[]
  #hasEnded = false

  /** `leaving` is who waits for statements that only read; who waits for others has no say in their end. */
  constructor(sequelize: Sequelize, limit: StatementLimit, connection: Connection, leaving: Leaving | null = null) {
    this.#sequelize = sequelize
    this.#limit = limit
    this.#connection = connection
    this.#leaving = leaving
    this.#undo = limit.dialect.interrupt === null ? METHODS.map((name) => this.#watchAll(name)) : []
    clocks.set(connection, this)
  }

  /** Whether a server was told to end a statement: word of that may come late, and must not hit anybody else's. */
  get isTainted(): boolean {
    return this.#hasEnded && this.#limit.dialect.interrupt !== null
  }

  stop(): void {
    if (clocks.get(this.#connection) !== this) return
    clocks.delete(this.#connection)
    for (const undo of this.#undo) undo()
  }

  /** Starts the time of a statement that the driver has just been handed. */
  run<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const told = this.watch((error, value) => (error === null ? resolve(value as T) : reject(error)))
      answer.then(
        (value) => told.call(undefined, null, value),
        (error: unknown) => told.call(undefined, error),
      )
    })
  }

  /** Starts the time of a statement, and gives what is to be told of its end in the place of `done`. */
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
      // Not before whoever was sent to end it is back: the next statement would be the one that is ended.
      void sent.then(() => done.call(this, failed, ...result))
    }
  }

  /** Has a method of SQLite's driver watched, and gives what undoes that. */
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
 * Behind a statement that it compiled for this once, SQLite's driver waits for the handle, and the whole process with it:
 * were the next one running by then, no clock would be looked at until that one ends.
 */
function whenIdle(done: Done): Done {
  return function told(error, ...result) {
    setImmediate(() => done.call(this, error, ...result))
  }
}

const clocks = new WeakMap<object, StatementClock>()

/** The clock that is looked at for the statements of a connection. */
export function clockOf(connection: object): StatementClock | undefined {
  return clocks.get(connection)
}

/** What a driver answers to a statement that it was just handed, within the time that the connection has for one. */
export function timedAnswer<T>(connection: object, answer: Promise<T>): Promise<T> {
  return clockOf(connection)?.run(answer) ?? answer
}

/** Gives a connection back to the pool. It is closed where the server was told to end a statement: the next one could be ended in its place. */
export function giveBack(sequelize: Sequelize, connection: Connection, clock: StatementClock | null): void {
  clock?.stop()
  if (clock?.isTainted) void closeConnection(sequelize, connection)
  else connectionsFor(sequelize).releaseConnection(connection)
}

/** Whether it is SQLite's only handle of a database in memory, which is everybody's: there nothing can be ended for one alone. */
export function isShared(connection: object): boolean {
  return Reflect.get(connection, 'filename') === ':memory:'
}

/** Does something on a connection of the host's, whose statements have no clock of their own; it stays the host's. */
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
