import type { Model, ModelStatic } from 'sequelize'
import { isFast } from '../../common/fastPaths.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { withSqlCache } from '../../sequelize/sqlCache.js'
import { writeByMarks } from './markedOperands.js'
import { createInlineOperands, NumberedOperands, type Operands } from './operands.js'
import type { StatementRequest } from './request.js'
import { writeStatement } from './text.js'

/** Dialect and table of a statement. */
export interface StatementTarget {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
}

export interface NumberedStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Statement whose SQL is written late, because the placeholders depend on the driver method that runs it. */
export class Statement {
  readonly #target: StatementTarget
  readonly #write: (operands: Operands) => string
  /** Whether other requests run equal SQL, so that the statement is worth keeping prepared. */
  readonly isReusable: boolean

  constructor(target: StatementTarget, write: (operands: Operands) => string, isReusable = true) {
    this.#target = target
    this.#write = write
    this.isReusable = isReusable
  }

  /** Returns the SQL with the database's placeholders, and the values. */
  toNumbered(): NumberedStatement {
    const operands = new NumberedOperands(this.#target.dialect)
    const sql = withSqlCache(() => this.#write(operands))
    return { sql, values: operands.values }
  }

  /** Returns the SQL with literal values. */
  toInline(): string {
    const { model } = this.#target
    const marked = isFast && this.isReusable ? writeByMarks(model, this.#write) : null
    return marked ?? this.#write(createInlineOperands(model))
  }
}

/** Maximum number of rows of an INSERT that SQLite keeps prepared. Each number of rows needs a different SQL text. */
const MAX_REUSABLE_ROWS = 20

/** Creates the statement of a request on a model's table. */
export function createStatement({ dialect, model }: StatementTarget, request: StatementRequest): Statement {
  const most = dialect.preparesBy === 'connection' ? MAX_REUSABLE_ROWS : 1
  const isReusable = request.kind !== 'insert' || request.rows.length <= most
  return new Statement({ dialect, model }, (operands) => writeStatement(dialect, model, request, operands), isReusable)
}
