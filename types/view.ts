import type { Field } from './field.js'
import type { Hop, Predicate } from './plan.js'
import type { Reach, Reference, Relation } from './resource.js'

/** A relation on a path, with what lies behind it for callers without restrictions. */
export interface Crossing {
  readonly relation: Relation
  readonly reach: Reach
  /** The reach that the relation starts from; null for the resource itself. */
  readonly from: Reach | null
}

/** The rows that link the records of a list to the record that the list is below. */
export interface OwnerLink {
  readonly relation: Relation
  /** That a row links to this record. */
  readonly pair: Predicate
}

/** The fields and relations that a caller may see in one request, among those that the resources allow everybody. */
export interface View {
  /** Names of the resource's own fields that the caller may not read. */
  readonly hidden: () => ReadonlySet<string>
  /** Whether a field of the resource (null), or of what a relation reaches, may be read. */
  readonly readable: (field: Field, reach: Reach | null) => boolean
  /** Whether the caller may write a member of the resource's bodies and may know of it: a field, or a relation by its JSON name. */
  readonly writable: (member: Field | string) => boolean
  /** The hop over a relation, with the condition on its target's records; null where the caller may not cross it. */
  readonly cross: (crossing: Crossing) => Hop | null
  /** Below a record: the relation to the row that links a record of the list; null elsewhere. */
  readonly link: Relation | null
  /** The foreign keys that bodies name, with the conditions on the records that they may refer to; null for no condition. */
  readonly references: ReadonlyMap<Reference, Predicate | null>
  /** Headers that the resources behind relation paths put on every reply they have a part in. */
  readonly headers: Readonly<Record<string, string>>
}
