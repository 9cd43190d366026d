import type { Intent } from '../../types/intent.js'
import type { FilterNode, Path } from '../../types/query.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { FLATTEN_LEVELS, quantifierOf } from './path.js'

/** Whether paths go on over a relation of `from` (null: of the resource itself). */
export type Crossing = (relation: Relation, reach: Reach, from: Reach | null) => boolean

const NOWHERE: ReadonlySet<Resource> = new Set()

/** Where a path has come to. */
interface Place {
  readonly relations: ReadonlyMap<string, Relation>
  readonly reach: Reach | null
}

/** The resources whose consent a request's paths need, as far as they go on, and those that are flattened. */
export function crossedBy(resource: Resource, intent: Intent, goesOn: Crossing): ReadonlySet<Resource> {
  if (intent.kind !== 'list') return resource.flatten.length === 0 ? NOWHERE : flattenedBy(resource)
  const root: Place = { relations: resource.relations(), reach: null }
  const walker = new Walker(goesOn, flattenedBy(resource))
  if (intent.filter !== null) walker.filter(intent.filter, root)
  const sorts = intent.sort ?? resource.defaultSort
  for (const path of [...sorts.map((node) => node.path), ...(intent.select ?? [])]) walker.path(path, root)
  return walker.crossed
}

class Walker {
  readonly crossed: Set<Resource>
  readonly #goesOn: Crossing

  constructor(goesOn: Crossing, crossed: Iterable<Resource>) {
    this.#goesOn = goesOn
    this.crossed = new Set(crossed)
  }

  filter(node: FilterNode, from: Place): void {
    switch (node.kind) {
      case 'and':
      case 'or':
        for (const child of node.nodes) this.filter(child, from)
        return
      case 'comparison':
        this.path(node.path, from)
        return
      case 'quantified': {
        const element = this.path(node.path, from)
        if (element !== null) this.filter(node.condition, element)
        return
      }
    }
  }

  /** Follows a path as far as its names are relations. Null where one of them is none, or leads no further. */
  path({ segments }: Path, from: Place): Place | null {
    let place = from
    let isMany = false
    for (const segment of segments) {
      // Behind a collection a quantifier's word is one, whatever relation has the same name.
      if (isMany && quantifierOf(segment) !== undefined) {
        isMany = false
        continue
      }
      const relation = place.relations.get(segment.toLowerCase())
      const reach = relation?.reach() ?? null
      if (relation === undefined || reach === null || !this.#goesOn(relation, reach, place.reach)) return null
      for (const resource of reach.resources) this.crossed.add(resource)
      for (const resource of relation.link?.resources() ?? []) this.crossed.add(resource)
      place = { relations: reach.relations, reach }
      isMany = relation.many
    }
    return place
  }
}

/** The resources whose records are flattened into the resource's own. */
export function flattenedBy(resource: Resource): ReadonlySet<Resource> {
  const crossed = new Set<Resource>()
  flattened(resource, crossed, 0)
  return crossed
}

function flattened(resource: Resource, crossed: Set<Resource>, level: number): void {
  if (level >= FLATTEN_LEVELS || resource.flatten.length === 0) return
  for (const relation of resource.relations().values()) {
    const reach = resource.flatten.includes(relation.name) ? relation.reach() : null
    for (const target of reach?.resources ?? []) {
      crossed.add(target)
      flattened(target, crossed, level + 1)
    }
  }
}
