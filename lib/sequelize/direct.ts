// Kept for speed: statements on MySQL and MariaDB, sent directly to the driver.

import type { Sequelize } from 'sequelize'
import { causeNow } from '../watch/channels.js'
import { runWatched } from '../watch/statement.js'
import type { Connection } from './connections.js'
import { answered, onConnection, type PooledRun } from './pooled.js'
import { type TypeCast, typeCastOf } from './readers.js'
import type { RawRow } from './run.js'

/** A statement to run, with its values in the SQL text. */
export interface DirectRun extends PooledRun {
  readonly sql: string
}

/** A connection of mysql2. */
interface Called extends Connection {
  query(statement: Text | string, done: (error: Error | null, result: unknown) => void): unknown
}

/** A connection of mariadb. */
interface Promising extends Connection {
  query(statement: Text | string): Promise<unknown>
}

interface Text {
  readonly sql: string
  readonly typeCast: TypeCast
}

/** Sends text to a driver. */
type Send = (connection: Connection, text: Text | string) => Promise<unknown>

/** By Sequelize's driver names. */
const SENDS: Readonly<Record<string, Send>> = {
  mysql: (connection, text) =>
    new Promise((resolve, reject) => {
      const { query } = connection as Called
      query.call(connection, text, (error, result) => (error === null ? resolve(result) : reject(error)))
    }),
  mariadb: (connection, text) => (connection as Promising).query(text),
}

/** Statements on MySQL and MariaDB, on connections of the pool. */
export class DirectStatements {
  readonly #sequelize: Sequelize
  readonly #send: Send
  readonly #typeCast: TypeCast

  private constructor(sequelize: Sequelize, send: Send) {
    this.#sequelize = sequelize
    this.#send = send
    this.#typeCast = typeCastOf(sequelize)
  }

  /** Null for other drivers. */
  static of(sequelize: Sequelize): DirectStatements | null {
    const name = sequelize.getDialect()
    const send = Object.hasOwn(SENDS, name) ? SENDS[name] : undefined
    return send === undefined ? null : new DirectStatements(sequelize, send)
  }

  async rows(run: DirectRun): Promise<readonly RawRow[]> {
    const found = await this.#run(run, this.#typeCast)
    return Array.isArray(found) ? found : []
  }

  /** Number of rows that the statement changed. */
  async affected(run: DirectRun): Promise<number> {
    // No result values are read. mysql2 copies an options object, which is slow.
    return affectedIn(await this.#run(run, undefined))
  }

  /** Runs a statement and publishes it to listeners. */
  #run(run: DirectRun, typeCast: TypeCast | undefined): Promise<unknown> {
    const cause = causeNow()
    const work = (): Promise<unknown> =>
      onConnection(this.#sequelize, run, (connection) => this.#on(connection, run, typeCast))
    if (cause === undefined) return work()
    return runWatched(cause, { dialect: this.#sequelize.getDialect(), sql: run.sql }, work, (found) =>
      Array.isArray(found) ? found.length : affectedIn(found),
    )
  }

  async #on(connection: Connection, { sql, transaction }: DirectRun, typeCast: TypeCast | undefined): Promise<unknown> {
    const text = typeCast === undefined ? sql : { sql, typeCast }
    try {
      return await answered(this.#sequelize, connection, { sql, values: NONE }, this.#send(connection, text))
    } catch (error) {
      // The server has ended the transaction. Later statements would be committed one by one.
      if (transaction !== undefined && ENDED.has(Object(Object(error).original).errno)) {
        await transaction.rollback().catch(() => undefined)
        Object.assign(transaction, { finished: 'rollback' })
      }
      throw error
    }
  }
}

/** Deadlock. MariaDB: record changed since the last read. */
const ENDED: ReadonlySet<unknown> = new Set([1213, 1020])
const NONE: readonly unknown[] = []

function affectedIn(found: unknown): number {
  const affected: unknown = Object(found).affectedRows
  return typeof affected === 'number' ? affected : 0
}

const statements = new WeakMap<Sequelize, DirectStatements | null>()

/** Direct statements of a Sequelize instance. Null for other drivers. */
export function directStatementsOf(sequelize: Sequelize): DirectStatements | null {
  const known = statements.get(sequelize)
  if (known !== undefined) return known
  const created = DirectStatements.of(sequelize)
  statements.set(sequelize, created)
  return created
}
