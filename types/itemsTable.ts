import type { Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** A table of values within an UPDATE. */
export interface ItemsTable {
  readonly start: string
  readonly end: string
  /** The name of its n-th column. */
  readonly column: (index: number) => string
  /** The statement that gives the name and the type of each column of the model's table. It returns no rows if the table has triggers, or is a view. */
  readonly columns: (model: ModelStatic<Model>) => string
  /** Whether the column of a field, one of these, gives back what a value of the field's type was sent as. */
  readonly keeps: (columns: readonly { readonly [column: string]: unknown }[], field: Field) => boolean
}
