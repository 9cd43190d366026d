import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { ForeignKeyBinding } from '../../types/work.js'
import { requireField } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { isObject } from '../common/object.js'
import { compileJoinModel } from '../compile/joinModel.js'
import { foreignKeyResourcesOf, isRelationClosed } from '../plan/index.js'

/** A relation with nested records in bodies, and the resource that plans these records. */
export interface NestedRelation {
  readonly json: string
  readonly many: boolean
  readonly target: Resource
  readonly binding: ForeignKeyBinding
}

/** A relation whose records are linked by their keys, through a join model. */
export interface LinkedRelation {
  readonly json: string
  readonly relation: Relation
  readonly target: Resource
  /** The resource over the join model. */
  readonly joinModelResource: Resource
  readonly binding: ForeignKeyBinding
  /** The join model's foreign key to the target, and the target's attribute that the key refers to. */
  readonly key: Field
  readonly referencedKey: Field
  readonly isUnique: boolean
}

/** Relations that the bodies of a resource name. */
export interface BodyRelations {
  readonly nested: readonly NestedRelation[]
  readonly linked: readonly LinkedRelation[]
}

/**
 * Finds the relations that bodies name; null if bodies name none. A relation with a masked foreign key is left out, so
 * that its name is an unknown member.
 *
 * @throws CrudConfigError if the resource over the records, or over the join model, is ambiguous or missing
 */
export function findRelations(resource: Resource, caller: Caller, bodies: readonly unknown[]): BodyRelations | null {
  if (bodies.length === 0) return null
  const named = resource.nestedRelations.filter((json) =>
    bodies.some((body) => isObject(body) && Object.hasOwn(body, json)),
  )
  if (named.length === 0) return null
  const relations = resource.relations()
  const holdings: NestedRelation[] = []
  const linkings: LinkedRelation[] = []
  for (const json of named) {
    const relation = relations.get(json.toLowerCase())
    if (relation === undefined) continue
    if (relation.joinModel !== null) {
      if (!isRelationClosed(relation, foreignKeyResourcesOf(relation, [], []), caller))
        linkings.push(resolveLinkedRelation(resource, relation))
      continue
    }
    const target = relation.relatedResource()
    // The foreign key always belongs to the child.
    if (isRelationClosed(relation, [target], caller)) continue
    holdings.push({ json, many: relation.many, target, binding: bindingOf(resource, relation, target) })
  }
  return holdings.length + linkings.length === 0 ? null : { nested: holdings, linked: linkings }
}

/** Selects the relations that one body names. */
export function selectRelations({ nested, linked }: BodyRelations, body: unknown): BodyRelations {
  const isMember = ({ json }: NestedRelation | LinkedRelation): boolean => isObject(body) && Object.hasOwn(body, json)
  return { nested: nested.filter(isMember), linked: linked.filter(isMember) }
}

/** Returns the foreign key binding between a parent and its children. */
export function bindingOf({ fields }: Resource, { attributes }: Relation, target: Resource): ForeignKeyBinding {
  return {
    source: requireField(fields, attributes.source),
    key: requireField(target.fields, attributes.target),
    fixed: new Map([...attributes.fixed()].map(([name, value]) => [requireField(target.fields, name), value])),
  }
}

/**
 * Resolves the resources of a many-to-many relation.
 *
 * @throws CrudConfigError if the resource over the records, or over the join model, is ambiguous or missing
 */
export function resolveLinkedRelation(parent: Resource, relation: Relation): LinkedRelation {
  const { joinModel, attributes, json } = relation
  if (joinModel === null) throw internalError(`the association "${json}" has no join model`)
  const target = relation.relatedResource()
  const resource = joinModel.joinModelResource() ?? compileJoinModel(joinModel.model)
  return {
    json,
    relation,
    target,
    joinModelResource: resource,
    binding: {
      source: requireField(parent.fields, attributes.source),
      key: requireField(resource.fields, joinModel.source),
      fixed: new Map([...joinModel.fixed()].map(([name, value]) => [requireField(resource.fields, name), value])),
    },
    key: requireField(resource.fields, joinModel.target),
    referencedKey: requireField(target.fields, attributes.target),
    isUnique: joinModel.unique,
  }
}
