import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Link, Relation, Resource } from '../../types/resource.js'
import { Remembered } from '../common/remembered.js'

/** Names of attributes of one resource. */
type Hidden = ReadonlySet<string>

const NOTHING: Hidden = new Set()

/** The attributes of one resource that are hidden from a caller, and those of the resources before it. Few requests involve several. */
interface Evaluated {
  readonly resource: Resource
  readonly hidden: Hidden
  readonly before: Evaluated | undefined
}

const known = new Remembered<Evaluated>()

/** The attributes that a caller may not read. Masks are evaluated once a resource and request. */
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

/** The resources over the table with a relation's foreign key, or keys, whose values the relation would reveal. */
export function holdersOf(
  { association, link }: Pick<Relation, 'association' | 'link'>,
  sources: readonly Resource[],
  targets: readonly Resource[],
): readonly Resource[] {
  if (link !== null) return link.resources()
  return association.associationType === 'BelongsTo' ? sources : targets
}

/** Whether a relation is closed to a caller from both sides, because a holder of its foreign key hides the key. */
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

/** Whether a resource masks the column of an attribute, which may be that of several attributes. */
function hidesColumn({ fields }: Resource, attribute: string, hidden: Hidden): boolean {
  const column = fields.find(({ name }) => name === attribute)?.column
  return fields.some((field) => hidden.has(field.name) && (field.name === attribute || field.column === column))
}

/** Whether a resource masks one of the keys that link two records, or shows the key nowhere. */
function hidesLink(holder: Resource, { keys }: Link, hidden: Hidden): boolean {
  return (
    keys.some((key) => hidesColumn(holder, key, hidden)) ||
    holder.fields.some(({ name, targets }) => keys.includes(name) && !(targets.has('response') || targets.has('list')))
  )
}

/** Whether a caller may write a member of a resource's bodies and may know of it: a field, or a relation by its JSON name. */
export function isWritable(resource: Resource, member: Field | string, caller: Caller): boolean {
  if (typeof member !== 'string')
    return !hiddenFrom(caller, resource).has(member.name) && sets(resource, member.name, caller)
  const relation = resource.relations().get(member.toLowerCase())
  return relation !== undefined && isRelationWritable(relation, caller)
}

/** Nested writes set the foreign keys that connect the records. */
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
