import type { Model, ModelStatic } from 'sequelize'

/** The table that a predicate's columns belong to. */
export interface TableContext {
  readonly model: ModelStatic<Model>
  /** The table's unquoted alias. Empty in statements without aliases. */
  readonly alias: string
  /** Whether to-one relations are written as joins. Only true at the root: subqueries use nested subqueries. */
  readonly canJoin: boolean
  /**
   * Whether relation paths are written as IN if possible, so that the database can start from their rows. Default
   * false.
   */
  readonly usesIn?: boolean
  /**
   * Whether where trees name attributes instead of columns, as in Sequelize's own finders. The main table's alias is
   * then unknown. Default false.
   */
  readonly usesAttributes?: boolean
  /** The join model's row, inside the subquery of a many-to-many relation. */
  readonly joinRow?: TableContext
}
