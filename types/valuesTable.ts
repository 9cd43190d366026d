import type { Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** Rows of the query `ValuesTable.columns`, with the name and type of a column each. */
export type StoredColumns = readonly { readonly [column: string]: unknown }[]

/** A table of values within an UPDATE. */
export interface ValuesTable {
  readonly start: string
  /** The end of a table with this number of columns. */
  readonly end: (count: number) => string
  /** The name of the column at an index. */
  readonly column: (index: number) => string
  /**
   * The query for the name and type of each column of the model's table. It returns no rows if the table has triggers
   * or is a view. It returns no columns whose values may not change in one statement.
   */
  readonly columns: (model: ModelStatic<Model>) => string
  /** Whether the field's column returns values exactly as they were sent. */
  readonly isExact: (columns: StoredColumns, field: Field) => boolean
  /**
   * Returns the SQL that follows a placeholder in the table's first row and declares the type of the field's column.
   * Returns null if values of the column cannot stand in the table.
   */
  readonly cast: (columns: StoredColumns, field: Field) => string | null
}
