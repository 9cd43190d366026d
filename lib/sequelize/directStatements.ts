// Kept for speed: statements on MySQL and MariaDB, sent directly to the driver.

import type { Sequelize } from 'sequelize'
import { getOrCreate } from '../common/getOrCreate.js'
import { traceStatement } from '../trace/statement.js'
import type { Connection } from './connections.js'
import { hasEndedTransaction } from './endedTransactions.js'
import { awaitAnswer, type PooledRun, runOnConnection } from './pooledConnections.js'
import type { RawRow } from './run.js'
import { type TypeCast, typeCastOf } from './valueParsers.js'
import { endTransaction } from './writeTransaction.js'

/** A statement to run, with its values in the SQL text. */
export interface DirectRun extends PooledRun {
  readonly sql: string
}

/** Connection of mysql2, which uses callbacks. */
interface CallbackConnection extends Connection {
  /** Without `null`, mysql2 searches the text for placeholders. */
  query(statement: StatementText | string, values: null, done: (error: Error | null, result: unknown) => void): unknown
}

/** Connection of mariadb, which uses promises. */
interface PromiseConnection extends Connection {
  query(statement: StatementText | string): Promise<unknown>
}

interface StatementText {
  readonly sql: string
  readonly typeCast: TypeCast
}

type SendText = (connection: Connection, text: StatementText | string) => Promise<unknown>

/** Functions that send text, by Sequelize's dialect name. */
const SENDS: Readonly<Record<string, SendText>> = {
  mysql: (connection, text) =>
    new Promise((resolve, reject) => {
      const { query } = connection as CallbackConnection
      query.call(connection, text, null, (error, result) => (error === null ? resolve(result) : reject(error)))
    }),
  mariadb: (connection, text) => (connection as PromiseConnection).query(text),
}

/** Runs statements on MySQL and MariaDB, on connections of the pool. */
export class DirectStatements {
  readonly #sequelize: Sequelize
  readonly #send: SendText
  readonly #typeCast: TypeCast

  private constructor(sequelize: Sequelize, send: SendText) {
    this.#sequelize = sequelize
    this.#send = send
    this.#typeCast = typeCastOf(sequelize)
  }

  /** Creates the direct statements of a Sequelize instance. Returns null for drivers other than mysql2 and mariadb. */
  static of(sequelize: Sequelize): DirectStatements | null {
    const name = sequelize.getDialect()
    const send = Object.hasOwn(SENDS, name) ? SENDS[name] : undefined
    return send === undefined ? null : new DirectStatements(sequelize, send)
  }

  async readRows(run: DirectRun): Promise<readonly RawRow[]> {
    const found = await this.#run(run, this.#typeCast)
    return Array.isArray(found) ? found : []
  }

  /** Returns the number of rows that the statement changed. */
  async runWrite(run: DirectRun): Promise<number> {
    // A write reads no values and needs no type cast. mysql2 would copy an options object, which is slow.
    return affectedRowsOf(await this.#run(run, undefined))
  }

  /** Runs a statement and publishes it to listeners. */
  #run(run: DirectRun, typeCast: TypeCast | undefined): Promise<unknown> {
    const work = (): Promise<unknown> =>
      runOnConnection(this.#sequelize, run, (connection) => this.#runOn(connection, run, typeCast))
    return traceStatement({ dialect: this.#sequelize.getDialect(), sql: run.sql }, work, (found) =>
      Array.isArray(found) ? found.length : affectedRowsOf(found),
    )
  }

  async #runOn(
    connection: Connection,
    { sql, transaction }: DirectRun,
    typeCast: TypeCast | undefined,
  ): Promise<unknown> {
    const text = typeCast === undefined ? sql : { sql, typeCast }
    try {
      return await awaitAnswer(this.#sequelize, connection, { sql, values: NONE }, this.#send(connection, text))
    } catch (error) {
      if (transaction !== undefined && hasEndedTransaction(error)) await endTransaction(transaction, error)
      throw error
    }
  }
}

const NONE: readonly unknown[] = []

function affectedRowsOf(found: unknown): number {
  const affected: unknown = Object(found).affectedRows
  return typeof affected === 'number' ? affected : 0
}

const statementsBySequelize = new WeakMap<Sequelize, DirectStatements | null>()

/** Returns the direct statements of a Sequelize instance, or null for other drivers. */
export function directStatementsOf(sequelize: Sequelize): DirectStatements | null {
  return getOrCreate(statementsBySequelize, sequelize, () => DirectStatements.of(sequelize))
}
