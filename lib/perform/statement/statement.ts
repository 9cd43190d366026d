import type { Model, ModelStatic } from 'sequelize'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { keeping } from '../../sequelize/keptTexts.js'
import { inlineOperands, NumberedOperands, type Operands } from './operands.js'
import type { Request } from './request.js'
import { write } from './text.js'

/** The table that a statement is about. */
export interface Target {
  readonly dialect: Dialect
  readonly model: ModelStatic<Model>
}

export interface Numbered {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A statement of one request. Its text is written when the way it runs is known. */
export class Statement {
  readonly #target: Target
  readonly #write: (operands: Operands) => string
  /** Whether other requests may run the same text, so that the database should keep it prepared. */
  readonly isKept: boolean

  constructor(target: Target, write: (operands: Operands) => string, isKept = true) {
    this.#target = target
    this.#write = write
    this.isKept = isKept
  }

  /** The text with the database's own placeholders, and the values beside it. */
  numbered(): Numbered {
    const operands = new NumberedOperands(this.#target.dialect)
    const sql = keeping(() => this.#write(operands))
    return { sql, values: operands.values }
  }

  /** The text with its values in it. */
  inline(): string {
    return this.#write(inlineOperands(this.#target.model))
  }
}

/** The statement of a request on a model's table. */
export function prepare({ dialect, model }: Target, request: Request): Statement {
  const isKept = request.kind !== 'insert' || request.rows.length === 1
  return new Statement({ dialect, model }, (operands) => write(dialect, model, request, operands), isKept)
}
