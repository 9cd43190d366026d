import type { ValueType } from './field.js'

/** How a column is used whose type in the database is not the one that its model declares. */
export interface Conversion {
  /** The column as a value of the declared type; null where no expression makes one of every value. */
  readonly compare: ((column: string) => string) | null
  /** The expression that reads the column; null where its decoder understands what the driver gives. */
  readonly read: ((column: string) => string) | null
}

/** A table by its name. Without a schema it is the one that statements find by the name alone. */
export interface TableName {
  readonly schema: string | null
  readonly table: string
}

/** The types of columns in the database. */
export interface ColumnTypes {
  /**
   * The SELECT of `place`, `name` and `type` of every column of some tables. `place` is the table's index in the list.
   * `textSql` writes a text as SQL.
   */
  readonly select: (tables: readonly TableName[], textSql: (text: string | null) => string) => string
  /** Whether a column of a type keeps UUIDs as they are spelled. */
  readonly spells: (type: string) => boolean
  /** What a column of a type needs to serve as one of the declared type; null for nothing. */
  readonly convert: (type: string, declared: ValueType) => Conversion | null
}
