import type { ValueType } from './field.js'

/** The conversion of a column whose database type differs from the declared type. */
export interface Conversion {
  /** Converts the column to the declared type; null if no expression converts every value. */
  readonly compare: ((column: string) => string) | null
  /** The expression that reads the column; null if the field's decoder understands the driver's value. */
  readonly read: ((column: string) => string) | null
}

/** The name of a table. Without a schema the database's search path applies. */
export interface TableName {
  readonly schema: string | null
  readonly table: string
}

/** How a dialect reads and converts the types of columns in the database. */
export interface ColumnTypes {
  /**
   * The SELECT of `place`, `name` and `type` of every column of the tables. `place` is the table's index in the list.
   * `textSql` writes a text as an SQL literal.
   */
  readonly select: (tables: readonly TableName[], textSql: (text: string | null) => string) => string
  /** Whether a column of this type preserves the spelling of UUIDs. */
  readonly isSpellingPreserved: (type: string) => boolean
  /** The conversion from a column of this type to the declared type; null if the types match. */
  readonly convert: (type: string, declared: ValueType) => Conversion | null
}
