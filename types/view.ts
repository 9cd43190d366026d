import type { Crossing } from './bound.js'
import type { Field } from './field.js'
import type { Hop, Predicate } from './plan.js'
import type { Reach, Reference } from './resource.js'

/** What a caller may see in one request, beyond what the resources allow everybody: the answers of those who were asked. */
export interface View {
  /** Names of the resource's own fields that the caller may not read. */
  readonly hidden: () => ReadonlySet<string>
  /** Whether a field of the resource (null), or of what a relation reaches, may be read. */
  readonly readable: (field: Field, reach: Reach | null) => boolean
  /** Whether the caller may write a member of the resource's bodies and may know of it: a field, or a relation by its JSON name. */
  readonly writable: (member: Field | string) => boolean
  /** The hop over a relation, with the condition on its target's records; null where the caller may not cross it. */
  readonly cross: (crossing: Crossing) => Hop | null
  /** What a record must meet for a body to point at it; null where every one may be pointed at. */
  readonly pointable: (reference: Reference) => Predicate | null
  /** Headers that the resources behind relation paths put on every reply they have a part in. */
  readonly headers: Readonly<Record<string, string>>
}
