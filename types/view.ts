import type { Field } from './field.js'
import type { Join, Predicate } from './plan.js'
import type { ForeignKeyReference, ModelAccess, Relation } from './resource.js'

/** A relation on a path, with its target as an unrestricted caller sees it. */
export interface RelationStep {
  readonly relation: Relation
  readonly access: ModelAccess
  /** The fields and relations at the start of the relation; null for the resource itself. */
  readonly from: ModelAccess | null
}

/** The rows of the join model that link the records of a nested list to its parent. */
export interface ParentLink {
  readonly relation: Relation
  /** The condition that a row links to the parent. */
  readonly condition: Predicate
}

/** The fields and relations that the caller may use in one request, among those that the resources publish. */
export interface View {
  /** Names of the resource's own fields that the caller may not read. */
  readonly hidden: () => ReadonlySet<string>
  /** Whether the caller may read a field of the resource (`access` is null), or of a relation's target (`access`). */
  readonly readable: (field: Field, access: ModelAccess | null) => boolean
  /**
   * Whether the caller may write a body member and may know that it exists: a field, or a relation by its JSON name.
   */
  readonly writable: (member: Field | string) => boolean
  /**
   * The join over a relation, with the condition on its target's records; null if the caller may not use the relation.
   */
  readonly join: (step: RelationStep) => Join | null
  /** In a nested list, the relation to the row of the join model that links the record; null in other lists. */
  readonly joinRow: Relation | null
  /** The foreign keys in the bodies, each with the condition of its foreign key check, or null without a condition. */
  readonly references: ReadonlyMap<ForeignKeyReference, Predicate | null>
  /** Headers of every reply that come from the resources on relation paths. */
  readonly headers: Readonly<Record<string, string>>
}
