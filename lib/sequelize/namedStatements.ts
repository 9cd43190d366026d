// Kept for speed: named prepared statements on PostgreSQL.

import { createHash } from 'node:crypto'
import type { Sequelize } from 'sequelize'
import { BoundedCache, estimateStringBytes } from '../common/cache.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { traceStatement } from '../trace/statement.js'
import type { Connection } from './connections.js'
import { awaitAnswer, type PooledRun, runOnConnection } from './pooledConnections.js'
import type { RawRow } from './run.js'
import { serverSideOf } from './serverSides.js'
import { limitAnswer } from './statementTimeout.js'
import { type TypeParsers, typeParsersOf } from './valueParsers.js'
import { LoneStatement } from './writeTransaction.js'

/** Maximum number of SQL texts whose runs are counted, and maximum total size of these texts in bytes. */
const CAPACITY = 200
const BYTES = 8 * 2 ** 20

/** Number of runs after which a text gets a name. Rare statements would only use memory of the server. */
const MIN_RUNS = 5

/**
 * Maximum number of names that a text may lose because its tables changed. If transactions of the host switch between
 * schemas with different tables, each switch would cost a name and fail a transaction.
 */
const MAX_LOST_NAMES = 2

/**
 * Milliseconds after which a text gets a new name. A statement keeps the parameter types from its preparation. After a
 * change of a column's type, the statement would compare with the old type, without an error.
 */
const LIFETIME = 120_000

/** Number of unused names that a connection may hold before it deallocates them. */
const MAX_UNUSED_NAMES = 50

/** A client of the driver pg. */
interface PgClient extends Connection, Partial<TypeParsers> {
  /** Process id from the server. A pooler may send another id. */
  readonly processID?: unknown
  _invalid?: boolean
  query(statement: string | BoundStatement, done: PgCallback): void
}

interface BoundStatement {
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly types: TypeParsers | undefined
}

interface PgResult {
  readonly rows: readonly RawRow[]
  readonly rowCount?: number | null
}

type PgCallback = (error: Error | null | undefined, result: PgResult) => void

/** Prepared statements of a connection on the server. */
interface PreparedNames {
  readonly names: Set<string>
  /** Whether one server process always answers. undefined before the check. */
  isDirect?: boolean
}

interface TextUse {
  runs: number
  name: string | null
  /** Time when the name was given, from `performance.now()`. */
  namedAt: number
  /** Number of names that the text lost because the result type changed. */
  lostNames: number
}

/** A statement to run, with its values in the places `$1`, `$2`. */
export interface NumberedRun extends PooledRun {
  readonly sql: string
  readonly values: readonly unknown[]
  /** Whether the statement may be named. */
  readonly isNameable: boolean
}

/**
 * Runs statements on PostgreSQL, on connections of the pool. An unnamed statement is parsed and planned on each run. A
 * frequent text gets a name, and each connection prepares it once. A name contains a hash of its text, so that other
 * programs on the server cannot prepare a different statement under the name.
 */
export class NamedStatements {
  readonly #sequelize: Sequelize
  readonly #liveNames = new Set<string>()
  readonly #uses = new BoundedCache<string, TextUse>({
    entries: CAPACITY,
    bytes: BYTES,
    estimateSize: (sql) => estimateStringBytes(sql),
    onRemove: ({ name }) => {
      if (name !== null) this.#liveNames.delete(name)
    },
  })
  readonly #preparedByClient = new WeakMap<PgClient, PreparedNames>()
  #namesGiven = 0

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  async readRows(run: NumberedRun): Promise<readonly RawRow[]> {
    return (await this.#run(run)).rows
  }

  /** Returns the number of rows that the statement changed. */
  async runWrite(run: NumberedRun): Promise<number> {
    return (await this.#run(run)).rowCount ?? 0
  }

  /** Runs a statement and publishes it to listeners. */
  #run(run: NumberedRun): Promise<PgResult> {
    const work = (): Promise<PgResult> =>
      runOnConnection(this.#sequelize, run, (connection) => this.#runOn(connection as PgClient, run))
    return traceStatement({ dialect: 'postgres', sql: run.sql }, work, ({ rowCount }) => rowCount ?? null)
  }

  async #runOn(client: PgClient, run: NumberedRun): Promise<PgResult> {
    const name = run.isNameable ? this.#nameOf(run.sql) : null
    if (name === null) return this.#send(client, run, null)
    const isAlone = run.transaction === undefined || run.transaction instanceof LoneStatement
    const prepared = getOrCreate(this.#preparedByClient, client, () => ({ names: new Set<string>() }))
    prepared.isDirect ??= serverSideOf(client)?.isDirect === true
    if (prepared.isDirect !== true || !(await this.#canPrepareName(client, prepared, isAlone)))
      return this.#send(client, run, null)
    // Only an older statement can have outdated types. A statement that this run prepares has the current types.
    const isOld = prepared.names.has(name)
    prepared.names.add(name)
    try {
      return await this.#send(client, run, name)
    } catch (error) {
      if (isOld && isDataException(error)) return this.#retryUnnamed(client, run, { name, error, isAlone })
      if (!this.#isNameUnusable(error, run.sql, { name, prepared })) throw error
      // The server has not executed the statement, and has aborted a surrounding transaction. The whole transaction is
      // repeated.
      if (!isAlone) throw error
      return this.#send(client, run, null)
    }
  }

  /**
   * Repeats a statement whose values did not fit the types from its preparation. In a transaction, which the server has
   * aborted, the error is marked so that the whole transaction is repeated.
   */
  async #retryUnnamed(
    client: PgClient,
    run: NumberedRun,
    { name, error, isAlone }: { readonly name: string; readonly error: unknown; readonly isAlone: boolean },
  ): Promise<PgResult> {
    const use = this.#uses.get(run.sql)
    if (isAlone) {
      const result = await this.#send(client, run, null)
      if (use?.name === name) this.#giveName(run.sql, use)
      return result
    }
    if (use?.name === name) this.#giveName(run.sql, use)
    if (typeof error === 'object' && error !== null) outdatedErrors.add(error)
    throw error
  }

  /** Returns the name of a text, or null if the text has no name yet. */
  #nameOf(sql: string): string | null {
    const known = this.#uses.get(sql)
    if (known === undefined) {
      this.#uses.set(sql, { runs: 1, name: null, namedAt: 0, lostNames: 0 })
      return null
    }
    if (known.name !== null && performance.now() - known.namedAt < LIFETIME) return known.name
    if (known.lostNames === MAX_LOST_NAMES) return null
    known.runs += 1
    return known.runs < MIN_RUNS ? null : this.#giveName(sql, known)
  }

  /** Gives a text a name that was never used. */
  #giveName(sql: string, use: TextUse): string {
    if (use.name !== null) this.#liveNames.delete(use.name)
    this.#namesGiven += 1
    // The number makes the name unique: connections may still hold a statement under an older name.
    const hash = createHash('sha256').update(sql).digest('hex').slice(0, 40)
    const name = `crud_${this.#namesGiven.toString(36)}_${hash}`
    this.#liveNames.add(name)
    use.name = name
    use.namedAt = performance.now()
    return name
  }

  /** Whether a connection may hold another name. Deallocates unused names. */
  async #canPrepareName(client: PgClient, prepared: PreparedNames, isAlone: boolean): Promise<boolean> {
    if (prepared.names.size < CAPACITY + MAX_UNUSED_NAMES) return true
    // DEALLOCATE is not run in a transaction, because a failure would abort the transaction.
    if (!isAlone) return false
    const gone = [...prepared.names].filter((name) => !this.#liveNames.has(name))
    try {
      await limitAnswer(client, runQuery(client, gone.map((name) => `DEALLOCATE "${name}"`).join('; ')))
      for (const name of gone) {
        prepared.names.delete(name)
        removeDriverName(client, name)
      }
    } catch {
      prepared.isDirect = false
    }
    return prepared.isDirect === true
  }

  /** Whether an error means that a named statement is unusable. */
  #isNameUnusable(
    error: unknown,
    sql: string,
    { name, prepared }: { readonly name: string; readonly prepared: PreparedNames },
  ): boolean {
    const code: unknown = Object(Object(error).original).code
    // A table has changed. The text must be prepared again under a new name.
    if (code === '0A000') this.#removeName(sql, name)
    // A pooler or the host has prepared or deallocated a statement with this name.
    else if (code === '26000' || code === '42P05') prepared.isDirect = false
    else return false
    return true
  }

  /**
   * Removes the name of a text and counts its runs again. Several connections may report one name, so the name is
   * compared first.
   */
  #removeName(sql: string, name: string): void {
    const known = this.#uses.get(sql)
    if (known?.name !== name) return
    this.#liveNames.delete(name)
    known.name = null
    known.runs = 0
    known.lostNames += 1
  }

  #send(client: PgClient, { sql, values: given }: NumberedRun, name: string | null): Promise<PgResult> {
    const values = given.some(hasNul) ? given.map(replaceNul) : given
    const answer = new Promise<PgResult>((resolve, reject) => {
      const done: PgCallback = (error, result) => {
        if (error instanceof Error && isConnectionBroken(error)) client._invalid = true
        if (error) reject(error)
        else resolve(result)
      }
      const types = typeParsersOf(client)
      if (name !== null) client.query({ name, text: sql, values, types }, done)
      else if (values.length > 0) client.query({ text: sql, values, types }, done)
      else client.query(sql, done)
    })
    return awaitAnswer(this.#sequelize, client, { sql, values }, answer)
  }
}

/** Errors of statements that were prepared with outdated column types. */
const outdatedErrors = new WeakSet<object>()

/** Whether a transaction failed because of outdated types. A retry uses the current types. */
export function isOutdatedError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && outdatedErrors.has(error)
}

/** Whether a value does not fit a type (SQLSTATE class 22). */
function isDataException(error: unknown): boolean {
  return /^22/.test(String(Object(Object(error).original).code))
}

function runQuery(client: PgClient, sql: string): Promise<PgResult> {
  return new Promise((resolve, reject) => {
    client.query(sql, (error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** Removes a name from the driver's own list of prepared statements. */
function removeDriverName(client: PgClient, name: string): void {
  const known: unknown = Object(Reflect.get(client, 'connection')).parsedStatements
  if (typeof known === 'object' && known !== null) Reflect.deleteProperty(known, name)
}

/** Replaces NUL like Sequelize, because PostgreSQL text cannot contain NUL. */
function replaceNul(value: unknown): unknown {
  return hasNul(value) ? value.replaceAll('\0', '\\0') : value
}

function hasNul(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

/** Whether the connection is broken, by Sequelize's rules. */
function isConnectionBroken(error: Error): boolean {
  return Reflect.get(error, 'code') === 'ECONNRESET' || BROKEN.test(error.message)
}

const BROKEN =
  /^Query read timeout$|Unable to set non-blocking to true|SSL SYSCALL error: EOF detected|Local: Authentication failure/i

const statementsBySequelize = new WeakMap<Sequelize, NamedStatements>()

/** Returns the named statements of a Sequelize instance. */
export function namedStatementsOf(sequelize: Sequelize): NamedStatements {
  return getOrCreate(statementsBySequelize, sequelize, () => new NamedStatements(sequelize))
}
