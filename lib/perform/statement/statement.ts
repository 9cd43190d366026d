import type { Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { keeping } from '../../sequelize/keptTexts.js'
import { inlineOperands, NumberedOperands, type Operands } from './operands.js'
import type { Request } from './request.js'
import { write } from './text.js'

/** The table of a statement. */
export interface Target {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
}

export interface Numbered {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A statement whose SQL is written late: its form depends on how it is run. */
export class Statement {
  readonly #target: Target
  readonly #write: (operands: Operands) => string
  /** Whether other requests run the same SQL, so that it is worth keeping prepared. */
  readonly isKept: boolean

  constructor(target: Target, write: (operands: Operands) => string, isKept = true) {
    this.#target = target
    this.#write = write
    this.isKept = isKept
  }

  /** The SQL with the database's placeholders, and the values. */
  numbered(): Numbered {
    const operands = new NumberedOperands(this.#target.dialect)
    const sql = keeping(() => this.#write(operands))
    return { sql, values: operands.values }
  }

  /** The SQL with literal values. */
  inline(): string {
    return this.#write(inlineOperands(this.#target.model))
  }
}

/** Maximum number of rows of an INSERT that SQLite keeps prepared. Each number of rows has a text of its own. */
const MOST_KEPT = 20

/** Creates the statement of a request on a model's table. */
export function prepare({ dialect, model }: Target, request: Request): Statement {
  const most = dialect.prepares === 'handle' ? MOST_KEPT : 1
  const isKept = request.kind !== 'insert' || request.rows.length <= most
  return new Statement({ dialect, model }, (operands) => write(dialect, model, request, operands), isKept)
}
