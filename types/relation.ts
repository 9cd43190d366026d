import type { Association, Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** An association as a path crosses it, wherever it leads. */
export interface RelationInfo {
  /** The association's name (`as`) in Sequelize. */
  readonly name: string
  readonly json: string
  readonly many: boolean
  /** What the number of the records behind it is among the fields: `playersCount`, a whole number. */
  readonly count: Field
  /** Whether the model has an attribute of that name already. */
  readonly isCountTaken: boolean
  /** Of a relation to many: the field of a record by which the others are tied to it. */
  readonly owner: Field | null
  /** Of a to-one relation: whether a record may have nothing behind it. */
  readonly optional: boolean
  /** Of a to-one relation: whether nothing in the models says that it leads to one record at most. */
  readonly doubtful: boolean
  /** Whether the foreign key of a belongsTo leads from some records to another model, as a type beside it says. */
  readonly polymorphic: boolean
  readonly association: Association
  /** Of the to-one relation from a record to the row that links it: the many-to-many whose table that is; null for others. */
  readonly between: Association | null
  /** The table between the two ends of a many-to-many; null for other relations. */
  readonly link: LinkInfo | null
}

/** The table whose rows link the records of a many-to-many. */
export interface LinkInfo {
  readonly model: ModelStatic<Model>
  /** Its foreign keys, by attribute. */
  readonly keys: readonly string[]
}
