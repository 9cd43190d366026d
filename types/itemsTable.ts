import type { Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** A table of values within a statement. */
export interface ItemsTable {
  readonly start: string
  readonly end: string
  /** The name of its n-th column. */
  readonly column: (index: number) => string
  readonly joint: JointStatements
}

/** How one statement does what several would. */
export interface JointStatements {
  /** The statement that gives what must be known of the model's table before. */
  readonly facts: (model: ModelStatic<Model>) => string
  /** What its rows say; null where one statement may not do it, since triggers have a say, or it is no table. */
  readonly read: (rows: readonly { readonly [column: string]: unknown }[]) => TableFacts | null
  /** The condition under which they still hold when the statement runs; `place` is that of their version, `counted` the key that the database counts. */
  readonly holds: (model: ModelStatic<Model>, place: string, counted: Field | null) => string
  /** An INSERT of several rows that makes all of them, or none where the condition is not met. */
  readonly insert: (sql: string, condition: string) => string
  /** Such an UPDATE, of one that is joined with the table of values below: all or none, whatever the table of the model says of conflicts. */
  readonly update: (sql: string) => string
  /** The table of values of an UPDATE that makes none where the condition is not met. */
  readonly items: (condition: string) => Pick<ItemsTable, 'start' | 'end'>
}

/** What is known of a table. */
export interface TableFacts {
  /** What stands for all of it: no change of the table leaves it the same. */
  readonly version: number
  /** Whether new rows are numbered by the database, each with a higher number than the one before. */
  readonly counts: boolean
  /** Whether the column of a field gives back what a value of its type was sent as. */
  readonly keeps: (field: Field) => boolean
}
