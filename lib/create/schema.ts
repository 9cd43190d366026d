/** What the catalogue of a database says about its tables, in the words of SQL. */

export interface Schema {
  readonly tables: readonly Table[]
}

export interface Table {
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly Column[]
  /** In the order of the key; empty for a table without one. */
  readonly primaryKey: readonly string[]
  /** Columns that are unique together, without the primary key. */
  readonly uniques: readonly (readonly string[])[]
  readonly foreignKeys: readonly ForeignKey[]
  /** The expressions of CHECK constraints. */
  readonly checks: readonly string[]
}

export interface Column {
  readonly name: string
  /** In lower case, with its length: `varchar(50)`, `bigint unsigned`, `integer[]`. */
  readonly type: string
  /** The values of an enumeration; null for other types. */
  readonly values: readonly string[] | null
  readonly isNullable: boolean
  /** Whether the database numbers the records. */
  readonly isNumbered: boolean
  /** Whether the database computes the value from other columns. */
  readonly isComputed: boolean
  readonly default: Default | null
  readonly comment: string | null
}

/** A value, or an expression of SQL. */
export type Default = { readonly value: string } | { readonly expression: string }

export interface ForeignKey {
  readonly columns: readonly string[]
  /** The name of a table of the same schema; null for a table elsewhere. */
  readonly table: string | null
  readonly targets: readonly string[]
}

export const DATABASES = ['sqlite', 'postgres', 'mysql', 'mariadb'] as const

export type Database = (typeof DATABASES)[number]
