import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Link, Relation, Resource } from '../../types/resource.js'
import { Remembered } from '../common/remembered.js'

/** Attributes of one resource, by name. */
type Hidden = ReadonlySet<string>

const NOTHING: Hidden = new Set()

/**
 * The attributes of one resource that are hidden from a caller, as a linked list with the resources evaluated before. A
 * request rarely involves many.
 */
interface Evaluated {
  readonly resource: Resource
  readonly hidden: Hidden
  readonly before: Evaluated | undefined
}

const known = new Remembered<Evaluated>()

/** The attributes that a caller may not read. Masks are evaluated once per resource and request. */
export function hiddenFrom(caller: Caller, resource: Resource): Hidden {
  const { readable } = resource.behaviours
  if (readable === null) return NOTHING
  const before = known.of(caller)
  for (let each = before; each !== undefined; each = each.before) {
    if (each.resource === resource) return each.hidden
  }
  const hidden = new Set<string>()
  for (const field of [...resource.fields, ...resource.computed]) if (!readable(field, caller)) hidden.add(field.name)
  known.set(caller, { resource, hidden, before })
  return hidden
}

/** The resources over the table with the foreign keys of a relation. The relation would reveal the values of these keys. */
export function holdersOf(
  { association, link }: Pick<Relation, 'association' | 'link'>,
  sources: readonly Resource[],
  targets: readonly Resource[],
): readonly Resource[] {
  if (link !== null) return link.resources()
  return association.associationType === 'BelongsTo' ? sources : targets
}

/** Whether a relation is closed to a caller in both directions, because a resource hides its foreign key. */
export function isClosed(
  { association, link }: Pick<Relation, 'association' | 'link'>,
  holders: readonly Resource[],
  caller: Caller,
): boolean {
  return holders.some((holder) => {
    const hidden = hiddenFrom(caller, holder)
    return link === null ? hidesColumn(holder, association.foreignKey, hidden) : hidesLink(holder, link, hidden)
  })
}

/** Whether a resource masks the column of an attribute. Several attributes may share one column. */
function hidesColumn({ fields }: Resource, attribute: string, hidden: Hidden): boolean {
  const column = fields.find(({ name }) => name === attribute)?.column
  return fields.some((field) => hidden.has(field.name) && (field.name === attribute || field.column === column))
}

/** Whether a resource masks or excludes one of the keys that link two records. */
function hidesLink(holder: Resource, { keys }: Link, hidden: Hidden): boolean {
  return (
    keys.some((key) => hidesColumn(holder, key, hidden)) ||
    holder.fields.some(({ name, targets }) => keys.includes(name) && !(targets.has('response') || targets.has('list')))
  )
}

/** Whether a caller may write and know a member of a resource's bodies: a field, or a relation by its JSON name. */
export function isWritable(resource: Resource, member: Field | string, caller: Caller): boolean {
  if (typeof member !== 'string')
    return !hiddenFrom(caller, resource).has(member.name) && sets(resource, member.name, caller)
  const relation = resource.relations().get(member.toLowerCase())
  return relation !== undefined && isRelationWritable(relation, caller)
}

/** Whether a caller may write the foreign keys that nested writes through a relation set. */
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
