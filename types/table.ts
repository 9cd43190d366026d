import type { Model, ModelStatic } from 'sequelize'

/** Properties of a model's table in the database catalogue that affect writes. */
export interface TableTraits {
  /**
   * Whether a statement may write fewer rows than it reports. Triggers, policies and rules may skip rows, or keep the
   * rows before a failing row. Such writes run in transactions.
   */
  readonly canSkipWrites: boolean
  /** Whether a locking read may omit readable rows, because PostgreSQL has separate row policies for locks. */
  readonly canSkipLocks: boolean
  /** Whether the database reports the number of rows that an INSERT, UPDATE or DELETE affected. */
  readonly countsInserted: boolean
  readonly countsFound: boolean
  /** Whether DEFAULT stores 0 in an auto-increment key: MySQL's mode NO_AUTO_VALUE_ON_ZERO. */
  readonly storesZero: boolean
  /** The name of a storage engine without transactions; null for other engines. */
  readonly unsafeEngine: string | null
  /** Whether a column has a default in the database. */
  readonly hasDefault: (column: string) => boolean
}

/** Reads the properties of a table. */
export interface TableCatalogue {
  /** Whether tables of this database may skip rows without an error. */
  readonly canSkipRows: boolean
  /** The statement with a row for each column: `name`, `has_default`, and table properties in the first row. */
  readonly write: (model: ModelStatic<Model>) => string
  /** Reads the properties from the rows; null if the table is unknown. */
  readonly read: (rows: readonly { readonly [column: string]: unknown }[]) => TableTraits | null
}
