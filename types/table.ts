import type { Model, ModelStatic } from 'sequelize'

/** What the catalogue of the database says of a model's table, as far as it decides over writes. */
export interface TableTraits {
  /**
   * Whether a statement may write less than it says, without an error or beside one: triggers, policies and rules that skip rows,
   * or leave the rows before the one that fails. Its writes run in transactions.
   */
  readonly writesLess: boolean
  /** Whether rows that can be read may be left out of a read that locks them: row policies of PostgreSQL decide about both. */
  readonly locksLess: boolean
  /** Whether the database counts the rows that an INSERT has made, and those that an UPDATE or DELETE has found. */
  readonly countsInserted: boolean
  readonly countsFound: boolean
  /** Whether an auto-increment key of DEFAULT is stored as 0 instead of counted: MySQL's mode NO_AUTO_VALUE_ON_ZERO. */
  readonly storesZero: boolean
  /** Name of a storage engine without transactions; null for others. */
  readonly unsafeEngine: string | null
  /** Whether the table has a default of its own for a column. */
  readonly hasDefault: (column: string) => boolean
}

/** How the traits of a table are read. */
export interface TableCatalogue {
  /** Whether tables of the database may skip rows without an error at all. */
  readonly skips: boolean
  /** A statement that gives a row for each column: `name`, `has_default`, and what `read` takes of the first row. */
  readonly write: (model: ModelStatic<Model>) => string
  /** Null where the table is unknown. */
  readonly read: (rows: readonly { readonly [column: string]: unknown }[]) => TableTraits | null
}
