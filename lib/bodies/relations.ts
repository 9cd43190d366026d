import type { Field } from '../../types/field.js'
import type { Caller } from '../../types/plan.js'
import type { Relation, Resource } from '../../types/resource.js'
import type { Tie } from '../../types/work.js'
import { fieldNamed } from '../common/columns.js'
import { isObject } from '../common/object.js'
import { between } from '../compile/between.js'
import { holdersOf, isClosed } from '../plan/index.js'

/** A relation with nested records in bodies, and the resource that plans these records. */
export interface Holding {
  readonly json: string
  readonly many: boolean
  readonly target: Resource
  readonly tie: Tie
}

/** A relation whose records are linked by their keys, through a join model. */
export interface Linking {
  readonly json: string
  readonly relation: Relation
  readonly target: Resource
  /** Resource over the join model. */
  readonly between: Resource
  readonly tie: Tie
  /** Foreign key of the join model to the target, and the target's attribute that the key refers to. */
  readonly key: Field
  readonly points: Field
  readonly isUnique: boolean
}

/** Relations that the bodies of a resource name. */
export interface Relations {
  readonly holdings: readonly Holding[]
  readonly linkings: readonly Linking[]
}

/**
 * Finds the relations that bodies name. Null if they name none. A relation with a masked foreign key is left out, so that its name is an
 * unknown member.
 *
 * @throws CrudConfigError if the resource over the records, or over the join model, is ambiguous or missing
 */
export function relationsIn(resource: Resource, caller: Caller, bodies: readonly unknown[]): Relations | null {
  if (bodies.length === 0) return null
  const named = resource.holds.filter((json) => bodies.some((body) => isObject(body) && Object.hasOwn(body, json)))
  if (named.length === 0) return null
  const relations = resource.relations()
  const holdings: Holding[] = []
  const linkings: Linking[] = []
  for (const json of named) {
    const relation = relations.get(json.toLowerCase())
    if (relation === undefined) continue
    if (relation.link !== null) {
      if (!isClosed(relation, holdersOf(relation, [], []), caller)) linkings.push(linkingOf(resource, relation))
      continue
    }
    const target = relation.speaker()
    // The foreign key always belongs to the child.
    if (isClosed(relation, [target], caller)) continue
    holdings.push({ json, many: relation.many, target, tie: tieOf(resource, relation, target) })
  }
  return holdings.length + linkings.length === 0 ? null : { holdings, linkings }
}

/** The relations that a body names, among the given ones. */
export function relationsOf({ holdings, linkings }: Relations, body: unknown): Relations {
  const isNamed = ({ json }: Holding | Linking): boolean => isObject(body) && Object.hasOwn(body, json)
  return { holdings: holdings.filter(isNamed), linkings: linkings.filter(isNamed) }
}

/** Foreign key binding between a parent and its children. */
export function tieOf({ fields }: Resource, { ends }: Relation, target: Resource): Tie {
  return {
    source: fieldNamed(fields, ends.source),
    key: fieldNamed(target.fields, ends.target),
    fixed: new Map([...ends.fixed()].map(([name, value]) => [fieldNamed(target.fields, name), value])),
  }
}

/**
 * Resolves the resources of a many-to-many relation.
 *
 * @throws CrudConfigError if the resource over the records, or over the join model, is ambiguous or missing
 */
export function linkingOf(owner: Resource, relation: Relation): Linking {
  const { link, ends, json } = relation
  if (link === null) throw new TypeError(`${json} has no join model`)
  const target = relation.speaker()
  const resource = link.speaker() ?? between(link.model)
  return {
    json,
    relation,
    target,
    between: resource,
    tie: {
      source: fieldNamed(owner.fields, ends.source),
      key: fieldNamed(resource.fields, link.source),
      fixed: new Map([...link.fixed()].map(([name, value]) => [fieldNamed(resource.fields, name), value])),
    },
    key: fieldNamed(resource.fields, link.target),
    points: fieldNamed(target.fields, ends.target),
    isUnique: link.unique,
  }
}
