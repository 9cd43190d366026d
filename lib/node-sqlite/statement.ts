import { EventEmitter } from 'node:events'
import type { Arguments, BuiltinStatement } from './builtin.js'
import { sqliteError } from './codes.js'
import type { Database } from './database.js'
import { findNumberedText, toArguments, toInteger, toPlainRow } from './values.js'

type Callback = (this: EventEmitter, error: Error | null, value?: unknown) => void

export function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

/**
 * A statement with the interface of sqlite3. The last argument of a method may be a callback, whose `this` is the
 * statement. Errors are passed to the callback. Without a callback, the statement emits `error`.
 */
export class Statement extends EventEmitter {
  readonly sql: string
  /** Row id of the last insert. An integer that a JavaScript number cannot hold is decimal text. */
  lastID?: number | string
  changes?: number

  readonly #database: Database
  #statement: BuiltinStatement | null = null
  #hasNumberedParameters = false
  #isFinalized = false
  #bound: Arguments = []

  constructor(database: Database, sql: string) {
    super()
    this.sql = sql
    this.#database = database
  }

  /** Compiles the statement, and binds the given values. */
  bind(...given: readonly unknown[]): this {
    return this.#call(given, () => () => undefined)
  }

  all(...given: readonly unknown[]): this {
    return this.#call(given, (statement) => {
      const rows = statement.all(...this.#bound).map(toPlainRow)
      return () => rows
    })
  }

  /** Passes the first row to the callback. */
  get(...given: readonly unknown[]): this {
    return this.#call(given, (statement) => {
      const [row] = statement.all(...this.#bound).map(toPlainRow)
      return () => row
    })
  }

  run(...given: readonly unknown[]): this {
    return this.#call(given, (statement) => {
      const { changes, lastInsertRowid } = statement.run(...this.#bound)
      return () => void Object.assign(this, { lastID: toInteger(lastInsertRowid), changes: Number(changes) })
    })
  }

  /** Only calls `done`, because statements are always reset. */
  reset(done?: unknown): this {
    this.#database.schedule(null, this, done, () => undefined)
    return this
  }

  finalize(done?: unknown): Database {
    return this.#database.schedule(null, this, done, () => {
      if (this.#statement !== null) this.#database.statements -= 1
      this.#statement = null
      this.#isFinalized = true
    })
  }

  /** Runs the statement with `work`. The result becomes the second argument of the callback. */
  #call(given: readonly unknown[], work: (statement: BuiltinStatement) => () => unknown): this {
    const last = given.at(-1)
    const values = isCallback(last) ? given.slice(0, -1) : given
    this.#database.schedule(this.sql, this, last, () => {
      const statement = this.#requireStatement()
      const bound = toArguments(values, this.#hasNumberedParameters, this.sql)
      if (bound.length > 0) this.#bound = bound
      return work(statement)
    })
    return this
  }

  #requireStatement(): BuiltinStatement {
    if (this.#isFinalized) throw sqliteError('MISUSE', 'Statement is already finalized')
    if (this.#statement !== null) return this.#statement
    const text = findNumberedText(this.sql)
    const statement = this.#database.builtin.prepare(text ?? this.sql)
    // JavaScript numbers cannot hold all integers of SQLite.
    statement.setReadBigInts(true)
    statement.setAllowBareNamedParameters(false)
    this.#database.statements += 1
    this.#hasNumberedParameters = text !== null
    this.#statement = statement
    return statement
  }
}
