import type { Association, Model, ModelStatic } from 'sequelize'
import type { Field } from './field.js'

/** An association as paths use it, whether or not its target has a resource. */
export interface RelationInfo {
  /** The association's name (`as`) in Sequelize. */
  readonly name: string
  readonly json: string
  readonly many: boolean
  /** The number of related records as a field: `playersCount`, an integer. */
  readonly count: Field
  /** Whether an attribute of the model already has the name of `count`. */
  readonly isCountTaken: boolean
  /** Of a to-many relation: the source's field that the foreign keys refer to; null for a to-one relation. */
  readonly sourceKey: Field | null
  /** Of a to-one relation: whether the related record may be missing. */
  readonly optional: boolean
  /** Of a to-one relation: whether the models do not guarantee at most one related record. */
  readonly canMatchSeveralRows: boolean
  /** Whether the foreign key of a belongsTo is polymorphic: a type attribute determines the referenced model. */
  readonly polymorphic: boolean
  readonly association: Association
  /** The many-to-many, if this to-one relation leads from a record to its row of the join model; null otherwise. */
  readonly manyToMany: Association | null
  /** The join model of a many-to-many; null for other relations. */
  readonly joinModel: JoinModelInfo | null
}

/** The join model of a many-to-many. */
export interface JoinModelInfo {
  readonly model: ModelStatic<Model>
  /** The attributes of the join model's foreign keys. */
  readonly keys: readonly string[]
}
