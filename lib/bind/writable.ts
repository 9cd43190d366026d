import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Relation, Resource } from '../../types/resource.js'
import { holdersOf, isClosed } from './closed.js'
import { hiddenFrom } from './hidden.js'

/** Whether a caller may write a member of a resource's bodies and may know of it: a field, or a relation by its JSON name. */
export function isWritable(resource: Resource, member: Field | string, caller: Caller): boolean {
  if (typeof member !== 'string')
    return !hiddenFrom(caller, resource).has(member.name) && sets(resource, member.name, caller)
  const relation = resource.relations().get(member.toLowerCase())
  return relation !== undefined && isRelationWritable(relation, caller)
}

/** Writing records of others sets the foreign keys that connect them. */
function isRelationWritable(relation: Relation, caller: Caller): boolean {
  const { link, ends } = relation
  if (link === null) {
    const target = relation.speaker()
    return !isClosed(relation, [target], caller) && sets(target, ends.target, caller)
  }
  const joins = link.speaker()
  if (isClosed(relation, holdersOf(relation, [], []), caller)) return false
  return joins === null || [link.source, link.target].every((name) => sets(joins, name, caller))
}

function sets({ fields, behaviours: { writable } }: Resource, attribute: string, caller: Caller): boolean {
  return writable === null || fields.every((field) => field.name !== attribute || writable(field, caller))
}
