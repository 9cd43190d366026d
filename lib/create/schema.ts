/** The tables of a database, as read from its catalogue. */

export interface Schema {
  readonly tables: readonly Table[]
}

export interface Table {
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly Column[]
  /** Columns of the primary key, in their order. Empty without a primary key. */
  readonly primaryKey: readonly string[]
  /** Unique constraints other than the primary key. */
  readonly uniques: readonly (readonly string[])[]
  readonly foreignKeys: readonly ForeignKey[]
  /** Expressions of CHECK constraints. */
  readonly checks: readonly string[]
}

export interface Column {
  readonly name: string
  /** SQL type in lower case with its length: `varchar(50)`, `bigint unsigned`, `integer[]`. */
  readonly type: string
  /** Values of an enumeration, or null for other types. */
  readonly values: readonly string[] | null
  readonly isNullable: boolean
  /** Whether the database generates ascending numbers for the column. */
  readonly isNumbered: boolean
  /** Whether the database computes the value from other columns. */
  readonly isComputed: boolean
  readonly default: Default | null
  readonly comment: string | null
}

/** The default of a column: a value or an SQL expression. */
export type Default = { readonly value: string } | { readonly expression: string }

export interface ForeignKey {
  readonly columns: readonly string[]
  /** A table of this schema, or null if the referenced table is in another schema. */
  readonly table: string | null
  readonly targets: readonly string[]
}

export const DATABASES = ['sqlite', 'postgres', 'mysql', 'mariadb'] as const

export type Database = (typeof DATABASES)[number]
