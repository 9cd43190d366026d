// Kept for speed: named prepared statements on PostgreSQL.

import { createHash } from 'node:crypto'
import type { Sequelize } from 'sequelize'
import { BoundedCache, bytesOf } from '../common/cache.js'
import { causeNow } from '../watch/channels.js'
import { runWatched } from '../watch/statement.js'
import type { Connection } from './connections.js'
import { answered, onConnection, type PooledRun } from './pooled.js'
import { type TypeParsers, typeParsersOf } from './readers.js'
import type { RawRow } from './run.js'
import { seatOf } from './seats.js'
import { timedAnswer } from './statementTime.js'
import { LoneStatement } from './writeRun.js'

/** Maximum number of counted texts, including named ones, and of their total size. */
const CAPACITY = 200
const BYTES = 8 * 2 ** 20

/** Number of runs after which a text gets a name. Rare statements would only use memory of the server. */
const OFTEN = 5

/**
 * Maximum number of names that a text may lose to changed tables. Tables change seldom. But if transactions of the host switch between
 * schemas with different tables, each switch would cost a name and fail a transaction.
 */
const CHANGES = 2

/**
 * Milliseconds after which a text gets a new name. A statement keeps the parameter types from its preparation. After a change of a column's
 * type it would compare with the old type, without an error.
 */
const LIFETIME = 120_000

/** Number of unused names that a connection may hold before it deallocates them. */
const SLACK = 50

/** A client of the driver pg. */
interface Client extends Connection, Partial<TypeParsers> {
  /** Process id from the server. A pooler may send another one. */
  readonly processID?: unknown
  _invalid?: boolean
  query(statement: string | Bound, done: Done): void
}

interface Bound {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly types: TypeParsers | undefined
}

interface Result {
  readonly rows: readonly RawRow[]
  readonly rowCount?: number | null
}

type Done = (error: Error | null | undefined, result: Result) => void

/** Prepared statements of a connection on the server. */
interface Held {
  readonly names: Set<string>
  /** Whether the same server process always answers. Undefined until it was checked. */
  isDirect?: boolean
}

interface Use {
  times: number
  name: string | null
  /** Time when the name was given. */
  since: number
  /** Number of names lost because the result type changed. */
  lost: number
}

/** A statement to run, with its values in the places `$1`, `$2`. */
export interface NumberedRun extends PooledRun {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Whether the statement may be named. */
  readonly isKept: boolean
}

/**
 * Statements on PostgreSQL, on connections of the pool. An unnamed statement is parsed and planned on each run. A frequent text gets a
 * name, and each connection prepares it once. A name is a hash of its text, so that other programs on the server cannot prepare a different
 * statement under it.
 */
export class NamedStatements {
  readonly #sequelize: Sequelize
  readonly #live = new Set<string>()
  readonly #uses = new BoundedCache<string, Use>({
    entries: CAPACITY,
    bytes: BYTES,
    weigh: (sql) => bytesOf(sql),
    onRemove: ({ name }) => {
      if (name !== null) this.#live.delete(name)
    },
  })
  readonly #held = new WeakMap<Client, Held>()
  #given = 0

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  async rows(run: NumberedRun): Promise<readonly RawRow[]> {
    return (await this.#run(run)).rows
  }

  /** Number of rows that the statement changed. */
  async affected(run: NumberedRun): Promise<number> {
    return (await this.#run(run)).rowCount ?? 0
  }

  /** Runs a statement and publishes it to listeners. */
  #run(run: NumberedRun): Promise<Result> {
    const cause = causeNow()
    if (cause === undefined) return this.#runPlainly(run)
    const work = (): Promise<Result> => this.#runPlainly(run)
    return runWatched(cause, { dialect: 'postgres', sql: run.sql }, work, ({ rowCount }) => rowCount ?? null)
  }

  #runPlainly(run: NumberedRun): Promise<Result> {
    return onConnection(this.#sequelize, run, (connection) => this.#on(connection as Client, run))
  }

  async #on(client: Client, run: NumberedRun): Promise<Result> {
    const name = run.isKept ? this.#nameOf(run.sql) : null
    if (name === null) return this.#send(client, run, null)
    const isAlone = run.transaction === undefined || run.transaction instanceof LoneStatement
    const held = this.#heldBy(client)
    held.isDirect ??= seatOf(client)?.isDirect === true
    if (held.isDirect !== true || !(await this.#hasPlace(client, held, isAlone))) return this.#send(client, run, null)
    // A statement that this run prepares has the current types.
    const isOld = held.names.has(name)
    held.names.add(name)
    try {
      return await this.#send(client, run, name)
    } catch (error) {
      if (isOld && isDataException(error)) return this.#again(client, run, { name, error, isAlone })
      if (!this.#isLost(error, run.sql, { name, held })) throw error
      // Nothing was executed. Only a transaction is aborted by the server, and its owner restarts it.
      if (!isAlone) throw error
      return this.#send(client, run, null)
    }
  }

  /**
   * Repeats a statement whose values did not fit the types from its preparation. Within a transaction, which the server has aborted, the
   * error is marked for the transaction's owner.
   */
  async #again(
    client: Client,
    run: NumberedRun,
    { name, error, isAlone }: { readonly name: string; readonly error: unknown; readonly isAlone: boolean },
  ): Promise<Result> {
    const use = this.#uses.get(run.sql)
    if (isAlone) {
      const result = await this.#send(client, run, null)
      if (use?.name === name) this.#giveName(run.sql, use)
      return result
    }
    if (use?.name === name) this.#giveName(run.sql, use)
    if (typeof error === 'object' && error !== null) outdated.add(error)
    throw error
  }

  /** Name of a text, or null before it has one. */
  #nameOf(sql: string): string | null {
    const known = this.#uses.get(sql)
    if (known === undefined) {
      this.#uses.set(sql, { times: 1, name: null, since: 0, lost: 0 })
      return null
    }
    if (known.name !== null && performance.now() - known.since < LIFETIME) return known.name
    if (known.lost === CHANGES) return null
    known.times += 1
    return known.times < OFTEN ? null : this.#giveName(sql, known)
  }

  /** Gives a text a name that was never used. */
  #giveName(sql: string, use: Use): string {
    if (use.name !== null) this.#live.delete(use.name)
    this.#given += 1
    // The number makes the name unique: connections may still hold a statement under an older name.
    const hash = createHash('sha256').update(sql).digest('hex').slice(0, 40)
    const name = `crud_${this.#given.toString(36)}_${hash}`
    this.#live.add(name)
    use.name = name
    use.since = performance.now()
    return name
  }

  #heldBy(client: Client): Held {
    const known = this.#held.get(client)
    if (known !== undefined) return known
    const held: Held = { names: new Set() }
    this.#held.set(client, held)
    return held
  }

  /** Whether a connection may hold another name. Deallocates unused names. */
  async #hasPlace(client: Client, held: Held, isAlone: boolean): Promise<boolean> {
    if (held.names.size < CAPACITY + SLACK) return true
    // A failure would abort a transaction.
    if (!isAlone) return false
    const gone = [...held.names].filter((name) => !this.#live.has(name))
    try {
      await timedAnswer(client, asked(client, gone.map((name) => `DEALLOCATE "${name}"`).join('; ')))
      for (const name of gone) {
        held.names.delete(name)
        forget(client, name)
      }
    } catch {
      held.isDirect = false
    }
    return held.isDirect === true
  }

  /** Whether an error means that a named statement is unusable. */
  #isLost(error: unknown, sql: string, { name, held }: { readonly name: string; readonly held: Held }): boolean {
    const code: unknown = Object(Object(error).original).code
    // A table has changed. The text must be prepared again under a new name.
    if (code === '0A000') this.#rename(sql, name)
    // A pooler or the host has prepared or deallocated the same name.
    else if (code === '26000' || code === '42P05') held.isDirect = false
    else return false
    return true
  }

  /** Removes the name of a text, which is counted again. Several connections may report the same name. */
  #rename(sql: string, name: string): void {
    const known = this.#uses.get(sql)
    if (known?.name !== name) return
    this.#live.delete(name)
    known.name = null
    known.times = 0
    known.lost += 1
  }

  async #send(client: Client, { sql, values: given }: NumberedRun, name: string | null): Promise<Result> {
    const values = given.some(hasNul) ? given.map(withoutNul) : given
    const answer = new Promise<Result>((resolve, reject) => {
      const done: Done = (error, result) => (error ? reject(error) : resolve(result))
      const types = typeParsersOf(client)
      if (name !== null) client.query({ name, text: sql, values, types }, done)
      else if (values.length > 0) client.query({ text: sql, values, types }, done)
      else client.query(sql, done)
    })
    const watched = answer.catch((error: unknown) => {
      if (error instanceof Error && isBroken(error)) client._invalid = true
      throw error
    })
    return answered(this.#sequelize, client, { sql, values }, watched)
  }
}

/** Errors of statements that were prepared with outdated column types. */
const outdated = new WeakSet<object>()

/** Whether a transaction failed because of outdated types. A retry uses the current types. */
export function isOutdated(error: unknown): boolean {
  return typeof error === 'object' && error !== null && outdated.has(error)
}

/** SQLSTATE class 22: a value does not fit a type. */
function isDataException(error: unknown): boolean {
  return /^22/.test(String(Object(Object(error).original).code))
}

function asked(client: Client, sql: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    client.query(sql, (error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** Removes a name from the driver's own list of prepared statements. */
function forget(client: Client, name: string): void {
  const known: unknown = Object(Reflect.get(client, 'connection')).parsedStatements
  if (typeof known === 'object' && known !== null) Reflect.deleteProperty(known, name)
}

/** Replaces NUL like Sequelize does, because PostgreSQL text cannot contain it. */
function withoutNul(value: unknown): unknown {
  return hasNul(value) ? value.replaceAll('\0', '\\0') : value
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

/** Whether the connection is broken, by Sequelize's rules. */
function isBroken(error: Error): boolean {
  return Reflect.get(error, 'code') === 'ECONNRESET' || BROKEN.test(error.message)
}

const BROKEN =
  /^Query read timeout$|Unable to set non-blocking to true|SSL SYSCALL error: EOF detected|Local: Authentication failure/i

const statements = new WeakMap<Sequelize, NamedStatements>()

/** Named statements of a Sequelize instance. */
export function namedStatementsOf(sequelize: Sequelize): NamedStatements {
  const known = statements.get(sequelize)
  if (known !== undefined) return known
  const created = new NamedStatements(sequelize)
  statements.set(sequelize, created)
  return created
}
