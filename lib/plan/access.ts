import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { JoinModel, Relation, Resource } from '../../types/resource.js'
import { CallerCache } from '../common/callerCache.js'

/** Names of attributes of one resource. */
type FieldNames = ReadonlySet<string>

const NOTHING: FieldNames = new Set()

/**
 * Attributes of one resource that are hidden from a caller. The masks of one request form a linked list, because a
 * request involves few resources.
 */
interface EvaluatedMask {
  readonly resource: Resource
  readonly hidden: FieldNames
  readonly previous: EvaluatedMask | undefined
}

const evaluatedMasks = new CallerCache<EvaluatedMask>()

/** Returns the attributes that a caller may not read. Masks are evaluated once per resource and request. */
export function hiddenFieldsOf(caller: Caller, resource: Resource): FieldNames {
  const { readable } = resource.behaviours
  if (readable === null) return NOTHING
  const before = evaluatedMasks.get(caller)
  for (let each = before; each !== undefined; each = each.previous) {
    if (each.resource === resource) return each.hidden
  }
  const hidden = new Set<string>()
  for (const field of [...resource.fields, ...resource.computed]) if (!readable(field, caller)) hidden.add(field.name)
  evaluatedMasks.set(caller, { resource, hidden, previous: before })
  return hidden
}

/**
 * Returns the resources whose table contains the foreign keys of a relation. Following the relation would reveal the
 * values of these foreign keys.
 */
export function foreignKeyResourcesOf(
  { association, joinModel }: Pick<Relation, 'association' | 'joinModel'>,
  sources: readonly Resource[],
  targets: readonly Resource[],
): readonly Resource[] {
  if (joinModel !== null) return joinModel.resources()
  return association.associationType === 'BelongsTo' ? sources : targets
}

/** Whether a caller may not follow a relation in either direction, because a resource hides its foreign key. */
export function isRelationClosed(
  { association, joinModel }: Pick<Relation, 'association' | 'joinModel'>,
  resources: readonly Resource[],
  caller: Caller,
): boolean {
  return resources.some((resource) => {
    const hidden = hiddenFieldsOf(caller, resource)
    return joinModel === null
      ? isColumnMasked(resource, association.foreignKey, hidden)
      : isJoinModelMasked(resource, joinModel, hidden)
  })
}

/** Whether a resource masks the column of an attribute. Several attributes may share one column. */
function isColumnMasked({ fields }: Resource, attribute: string, hidden: FieldNames): boolean {
  if (hidden.size === 0) return false
  const column = fields.find(({ name }) => name === attribute)?.column
  return fields.some((field) => hidden.has(field.name) && (field.name === attribute || field.column === column))
}

/** Whether a resource masks or excludes one of the keys that link two records. */
function isJoinModelMasked(resource: Resource, { keys }: JoinModel, hidden: FieldNames): boolean {
  return (
    keys.some((key) => isColumnMasked(resource, key, hidden)) ||
    resource.fields.some(
      ({ name, targets }) => keys.includes(name) && !(targets.has('response') || targets.has('list')),
    )
  )
}

/**
 * Whether a caller may set a member of a resource's bodies: a field, or a relation by its JSON name. False for a masked
 * member.
 */
export function isMemberWritable(resource: Resource, member: Field | string, caller: Caller): boolean {
  if (typeof member !== 'string')
    return !hiddenFieldsOf(caller, resource).has(member.name) && canSetAttribute(resource, member.name, caller)
  const relation = resource.relations().get(member.toLowerCase())
  return relation !== undefined && isRelationWritable(relation, caller)
}

/** Whether a caller may write the foreign keys that nested writes through a relation set. */
function isRelationWritable(relation: Relation, caller: Caller): boolean {
  const { joinModel, attributes } = relation
  if (joinModel === null) {
    const target = relation.relatedResource()
    return !isRelationClosed(relation, [target], caller) && canSetAttribute(target, attributes.target, caller)
  }
  const joins = joinModel.joinModelResource()
  if (isRelationClosed(relation, foreignKeyResourcesOf(relation, [], []), caller)) return false
  return joins === null || [joinModel.source, joinModel.target].every((name) => canSetAttribute(joins, name, caller))
}

function canSetAttribute({ fields, behaviours: { writable } }: Resource, attribute: string, caller: Caller): boolean {
  return writable === null || fields.every((field) => field.name !== attribute || writable(field, caller))
}
