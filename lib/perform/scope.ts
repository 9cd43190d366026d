import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'

/** How values are written: as placeholders of a statement that is kept, or as themselves. */
export interface Operands {
  /** A value as SQL text. */
  readonly sql: (slot: number) => string
  /** A value to compare a field with, as a member of a Sequelize where tree. */
  readonly member: (slot: number, field: Field) => unknown
}

/** Where column names of a predicate are looked up. */
export interface Scope {
  readonly model: ModelStatic<Model>
  /** The table's alias, unquoted; empty in statements that have none. */
  readonly alias: string
  /** True at the root, where to-one hops are joins; inside subqueries they are subqueries of their own. */
  readonly joins: boolean
}
