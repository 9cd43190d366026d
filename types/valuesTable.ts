import type { Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** A table of values within an UPDATE. */
export interface ValuesTable {
  readonly start: string
  readonly end: string
  /** The name of the column at an index. */
  readonly column: (index: number) => string
  /**
   * The query for the name and type of each column of the model's table. It returns no rows if the table has triggers
   * or is a view.
   */
  readonly columns: (model: ModelStatic<Model>) => string
  /** Whether the field's column returns values exactly as they were sent. */
  readonly isExact: (columns: readonly { readonly [column: string]: unknown }[], field: Field) => boolean
}
