import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Dialect } from '../../sequelize/dialect/index.js'
import { escapeValue } from '../../sequelize/sql.js'

/** How the values of one statement are written. */
export interface Operands {
  /** A value as SQL text. Each call stands for one more value of the statement. */
  readonly sql: (value: unknown) => string
  /** The same of a value that is compared with a field of a model. Absent if no field makes a difference. */
  readonly compared?: (value: unknown, model: ModelStatic<Model>, field: Field) => string
}

/** Values beside the text, in the order of their places: `$1` on PostgreSQL, `?1` on SQLite. */
export class NumberedOperands implements Operands {
  readonly values: unknown[] = []
  readonly #mark: string

  constructor(dialect: Dialect) {
    this.#mark = dialect.prepares === 'handle' ? '?' : '$'
  }

  sql = (value: unknown): string => `${this.#mark}${this.values.push(value)}`
}

/** Values as text, escaped by Sequelize. */
export function inlineOperands(model: ModelStatic<Model>): Operands {
  return { sql: (value) => escapeValue(model, value) }
}
