import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { escapeValue } from '../../sequelize/sql.js'

/** Writes the values of a statement. */
export interface Operands {
  /** Returns the SQL of a value. Each call adds one value to the statement. */
  readonly write: (value: unknown) => string
  /** Returns the SQL of a value that is compared with a field. Absent if the SQL does not depend on the field. */
  readonly writeCompared?: (value: unknown, model: ModelStatic<Model>, field: Field) => string
}

/** Binds values to placeholders in order: `$1` on PostgreSQL, `?1` on SQLite. */
export class NumberedOperands implements Operands {
  readonly values: unknown[] = []
  readonly #prefix: string

  constructor(dialect: Dialect) {
    this.#prefix = dialect.preparesBy === 'connection' ? '?' : '$'
  }

  write = (value: unknown): string => `${this.#prefix}${this.values.push(value)}`
}

/** Writes values as literals that Sequelize escapes. */
export function createInlineOperands(model: ModelStatic<Model>): Operands {
  return { write: (value) => escapeValue(model, value) }
}
