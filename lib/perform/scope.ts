import type { Model, ModelStatic } from 'sequelize'

/** Where column names of a predicate are looked up. */
export interface Scope {
  readonly model: ModelStatic<Model>
  /** The table's alias, unquoted; empty in statements that have none. */
  readonly alias: string
  /** True at the root, where to-one hops are joins; inside subqueries they are subqueries of their own. */
  readonly joins: boolean
  /** Whether paths are written as IN where they can be, so that the database may begin with their rows; absent for no. */
  readonly seeks?: boolean
  /** Whether where trees name columns by attributes, as Sequelize's own do: in statements of hosts the table may have any name. */
  readonly byAttribute?: boolean
  /** The row beside the record that links it to its owner, in the subquery of a many-to-many. */
  readonly link?: Scope
}
