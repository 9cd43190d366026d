import type { Model, ModelStatic } from 'sequelize'

/** Table that a predicate's columns belong to. */
export interface TableContext {
  readonly model: ModelStatic<Model>
  /** The table's unquoted alias. Empty in statements without aliases. */
  readonly alias: string
  /**
   * Whether to-one relations are written as joins. True only for the main table, because subqueries use nested
   * subqueries.
   */
  readonly canJoin: boolean
  /**
   * Whether relation paths are written as IN if possible, so that the database can start from the related rows. Default
   * false.
   */
  readonly usesIn?: boolean
  /**
   * Whether where trees name attributes instead of columns, as Sequelize's own finders require. The main table's alias
   * is unknown in these finders. Default false.
   */
  readonly usesAttributes?: boolean
  /** Row of the join model, inside the subquery of a many-to-many relation. */
  readonly joinRow?: TableContext
}
