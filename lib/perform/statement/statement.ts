import type { Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { withSqlCache } from '../../sequelize/sqlCache.js'
import { createInlineOperands, NumberedOperands, type Operands } from './operands.js'
import type { StatementRequest } from './request.js'
import { writeStatement } from './text.js'

/** The table of a statement. */
export interface StatementTarget {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
}

export interface NumberedStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A statement whose SQL is written late: its form depends on how it is run. */
export class Statement {
  readonly #target: StatementTarget
  readonly #write: (operands: Operands) => string
  /** Whether other requests run the same SQL, so that it is worth keeping prepared. */
  readonly isReusable: boolean

  constructor(target: StatementTarget, write: (operands: Operands) => string, isKept = true) {
    this.#target = target
    this.#write = write
    this.isReusable = isKept
  }

  /** The SQL with the database's placeholders, and the values. */
  toNumbered(): NumberedStatement {
    const operands = new NumberedOperands(this.#target.dialect)
    const sql = withSqlCache(() => this.#write(operands))
    return { sql, values: operands.values }
  }

  /** The SQL with literal values. */
  toInline(): string {
    return this.#write(createInlineOperands(this.#target.model))
  }
}

/** Maximum number of rows of an INSERT that SQLite keeps prepared. Each number of rows has a text of its own. */
const MOST_KEPT = 20

/** Creates the statement of a request on a model's table. */
export function createStatement({ dialect, model }: StatementTarget, request: StatementRequest): Statement {
  const most = dialect.preparesBy === 'handle' ? MOST_KEPT : 1
  const isKept = request.kind !== 'insert' || request.rows.length <= most
  return new Statement({ dialect, model }, (operands) => writeStatement(dialect, model, request, operands), isKept)
}
