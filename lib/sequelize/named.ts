// Kept for speed: statements of PostgreSQL, prepared by a name.

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

/** The texts that are counted, those with a name among them, and what they take. */
const CAPACITY = 200
const BYTES = 8 * 2 ** 20

/** How often a text has run when it gets a name: those that run once or twice would only take up the server's memory. */
const OFTEN = 5

/**
 * How many names a text may lose to tables that are no more what they were. Tables are changed now and then; but where transactions of
 * the host's choose between schemas whose tables differ, every change of schema would cost a name, and a transaction with it.
 */
const CHANGES = 2

/**
 * The milliseconds after which a text gets another name. A statement keeps the types that its parameters had when it was prepared:
 * where somebody else changes the type of a column, it compares values as the old type, without an error.
 */
const LIFETIME = 120_000

/** Names that no text has any more, of which a connection may hold so many until it lets go of them. */
const SLACK = 50

/** A client of the driver pg. */
interface Client extends Connection, Partial<TypeParsers> {
  /** What the server has said it is. What stands between may say something else. */
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

/** What a connection holds on the server. */
interface Held {
  readonly names: Set<string>
  /** Whether it is one and the same process of the server that answers; undefined until it was asked. */
  isDirect?: boolean
}

interface Use {
  times: number
  name: string | null
  /** The time of the name. */
  since: number
  /** How many names it has lost since its result had become another. */
  lost: number
}

/** A statement about to run, its values in the places `$1`, `$2`. */
export interface NumberedRun extends PooledRun {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Whether it may have a name. */
  readonly isKept: boolean
}

/**
 * Statements on PostgreSQL, on the pool's own connections. One without a name is parsed and planned each time; what runs often
 * gets a name, which each connection prepares once. A name is a hash of its text, so that whoever else prepares by such names
 * on the same server cannot have another statement behind it.
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

  /** The number of rows that the statement changed. */
  async affected(run: NumberedRun): Promise<number> {
    return (await this.#run(run)).rowCount ?? 0
  }

  /** Runs a statement, of which those are told who listen. */
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
    // What is prepared by this run has the types of now.
    const isOld = held.names.has(name)
    held.names.add(name)
    try {
      return await this.#send(client, run, name)
    } catch (error) {
      if (isOld && isDataException(error)) return this.#again(client, run, { name, error, isAlone })
      if (!this.#isLost(error, run.sql, { name, held })) throw error
      // Nothing of it was done. Only a transaction is given up by the server, and whoever began it begins anew.
      if (!isAlone) throw error
      return this.#send(client, run, null)
    }
  }

  /**
   * Runs a statement anew whose values did not fit the types that it was prepared with. Within a transaction, which the server has given up, the
   * error is marked for whoever began it.
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

  /** The name of a text, once it has one. */
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

  /** Gives a text a name that no statement was prepared by. */
  #giveName(sql: string, use: Use): string {
    if (use.name !== null) this.#live.delete(use.name)
    this.#given += 1
    // A number of its own each time: what a connection still holds by a former name is not taken for this one.
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

  /** Whether a connection may hold another name; it lets go of those that no text has any more. */
  async #hasPlace(client: Client, held: Held, isAlone: boolean): Promise<boolean> {
    if (held.names.size < CAPACITY + SLACK) return true
    // A failure would end a transaction.
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

  /** Whether a name has lost what was behind it. */
  #isLost(error: unknown, sql: string, { name, held }: { readonly name: string; readonly held: Held }): boolean {
    const code: unknown = Object(Object(error).original).code
    // Somebody has changed a table: prepared anew, by another name, it is well.
    if (code === '0A000') this.#rename(sql, name)
    // Somebody else has prepared by this name or let go of it: a pooler, or the host.
    else if (code === '26000' || code === '42P05') held.isDirect = false
    else return false
    return true
  }

  /** Takes a name from its text, which counts anew. Other connections may tell of the same. */
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

/** Errors of statements that were prepared before a column had its present type. */
const outdated = new WeakSet<object>()

/** Whether a transaction failed by a statement with old types. Done anew, the statement has those of now. */
export function isOutdated(error: unknown): boolean {
  return typeof error === 'object' && error !== null && outdated.has(error)
}

/** SQLSTATE class 22: a value that does not fit a type. */
function isDataException(error: unknown): boolean {
  return /^22/.test(String(Object(Object(error).original).code))
}

function asked(client: Client, sql: string): Promise<Result> {
  return new Promise((resolve, reject) => {
    client.query(sql, (error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** The driver remembers what it has prepared by its name. */
function forget(client: Client, name: string): void {
  const known: unknown = Object(Reflect.get(client, 'connection')).parsedStatements
  if (typeof known === 'object' && known !== null) Reflect.deleteProperty(known, name)
}

/** Texts of PostgreSQL have no NUL. What Sequelize puts in its place. */
function withoutNul(value: unknown): unknown {
  return hasNul(value) ? value.replaceAll('\0', '\\0') : value
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

/** Whether the connection is of no more use, by what Sequelize goes by. */
function isBroken(error: Error): boolean {
  return Reflect.get(error, 'code') === 'ECONNRESET' || BROKEN.test(error.message)
}

const BROKEN =
  /^Query read timeout$|Unable to set non-blocking to true|SSL SYSCALL error: EOF detected|Local: Authentication failure/i

const statements = new WeakMap<Sequelize, NamedStatements>()

/** Those of one Sequelize instance. */
export function namedStatementsOf(sequelize: Sequelize): NamedStatements {
  const known = statements.get(sequelize)
  if (known !== undefined) return known
  const created = new NamedStatements(sequelize)
  statements.set(sequelize, created)
  return created
}
