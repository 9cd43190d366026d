import type { Reachable } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { Caller, View } from '../../types/plan.js'
import type { FilterNode, Path } from '../../types/query.js'
import type { Reach, Relation, Resource } from '../../types/resource.js'
import { Problem } from '../problem.js'
import { junction } from './filter.js'
import { FLATTEN_LEVELS, quantifierOf } from './path.js'

/** The view of a caller on whom no behaviour has a say. */
export const OPEN: View = Object.freeze<View>({
  readable: () => true,
  cross: (relation: Relation) => ({ relation, guard: null }),
  key: '',
  headers: {},
})

/**
 * What this caller may see in this request: every resource that a path of it crosses is asked once, before the plan is
 * made. What was not asked here stays closed.
 */
export async function viewOf(resource: Resource, intent: Intent, caller: Caller): Promise<View> {
  const crossed = crossedBy(resource, intent)
  const { readable } = resource.behaviours
  if (crossed.size === 0 && readable === null) return OPEN
  const reachable = new Map<Resource, Reachable>()
  for (const target of crossed) {
    if (target.behaviours.reach) reachable.set(target, await reachOf(target, caller))
  }
  return viewBy(resource, crossed, reachable, caller)
}

/**
 * The same without waiting, for callers without a request: what only a policy or a scope that takes its time could
 * open stays closed.
 */
export function viewNow(resource: Resource, intent: Intent, caller: Caller): View {
  const crossed = crossedBy(resource, intent)
  const reachable = new Map<Resource, Reachable>()
  for (const target of crossed) {
    const answer = target.behaviours.reach?.(target, caller) ?? null
    if (answer instanceof Promise) answer.catch(() => undefined)
    else if (target.behaviours.reach) reachable.set(target, answer)
  }
  return viewBy(resource, crossed, reachable, caller)
}

/** What a caller may see, where the answers of the resources behind relation paths are known. */
export function viewBy(
  resource: Resource,
  crossed: ReadonlySet<Resource>,
  reachable: ReadonlyMap<Resource, Reachable>,
  caller: Caller,
): View {
  const { readable } = resource.behaviours
  const answerOf = (target: Resource): Reachable => {
    const answer = reachable.get(target)
    if (answer !== undefined) return answer
    return target.behaviours.reach === null ? null : false
  }
  const guards = new Map<Reach, Reachable>()
  const guardOf = (reach: Reach): Reachable => {
    const known = guards.get(reach)
    if (known !== undefined) return known
    const guard = conjunction(reach.resources.map((each) => answerOf(each)))
    guards.set(reach, guard)
    return guard
  }
  const isOwn = (field: Field): boolean => readable === null || readable(field, caller)
  return {
    readable: (field, reach) =>
      reach === null
        ? isOwn(field)
        : reach.resources.every((each) => each.behaviours.readable === null || each.behaviours.readable(field, caller)),
    cross: (relation, reach, from) => {
      const guard = guardOf(reach)
      const holders = holdersOf(relation, reach, from?.resources ?? [resource])
      return guard === false || holders.some(hidesKey(relation, caller)) ? null : { relation, guard }
    },
    key: hiddenKey(resource, isOwn),
    headers: crossed.size === 0 ? NONE : headersOf(resource, crossed, answerOf),
  }
}

/** A Problem that refuses the caller closes the way; it is not the answer to a request of another resource. */
export async function reachOf(target: Resource, caller: Caller): Promise<Reachable> {
  try {
    return (await target.behaviours.reach?.(target, caller)) ?? null
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return false
    throw error
  }
}

/** A path into what is closed to the caller has the headers of one that does not exist. */
function headersOf(
  resource: Resource,
  crossed: ReadonlySet<Resource>,
  answerOf: (target: Resource) => Reachable,
): View['headers'] {
  const always = flattenedBy(resource)
  const open = [...crossed].filter((target) => always.has(target) || answerOf(target) !== false)
  return Object.assign({}, ...open.map(({ behaviours }) => behaviours.headers))
}

/** The resources over the table with the relation's foreign key. */
function holdersOf({ association }: Relation, reach: Reach, from: readonly Resource[]): readonly Resource[] {
  if (association.associationType === 'BelongsToMany') return []
  return association.associationType === 'BelongsTo' ? from : reach.resources
}

/** Whether a resource hides the relation's foreign key from the caller, whom the relation would tell the same. */
function hidesKey({ association }: Relation, caller: Caller): (resource: Resource) => boolean {
  return ({ fields, behaviours: { guarded, readable } }) => {
    if (readable === null || !guarded.includes(association.foreignKey)) return false
    const field = fields.find(({ name }) => name === association.foreignKey)
    return field !== undefined && !readable(field, caller)
  }
}

const NONE: View['headers'] = Object.freeze({})

/** The names of the resource's own fields that the caller may not read. */
function hiddenKey({ fields, behaviours: { guarded } }: Resource, isReadable: (field: Field) => boolean): string {
  let key = ''
  for (const field of fields) if (guarded.includes(field.name) && !isReadable(field)) key += `${field.name},`
  return key
}

function conjunction(parts: readonly Reachable[]): Reachable {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : junction('and', open)
}

const NOWHERE: ReadonlySet<Resource> = new Set()

type Relations = ReadonlyMap<string, Relation>

/** The resources behind every relation that a request's paths, or what is flattened, may cross. */
function crossedBy(resource: Resource, intent: Intent): ReadonlySet<Resource> {
  if (intent.kind !== 'list') return resource.flatten.length === 0 ? NOWHERE : flattenedBy(resource)
  const relations = resource.relations()
  const crossed = new Set(flattenedBy(resource))
  if (intent.filter !== null) filtered(intent.filter, relations, crossed)
  const sorts = intent.sort ?? resource.defaultSort
  for (const path of [...sorts.map((node) => node.path), ...(intent.select ?? [])]) walk(path, relations, crossed)
  return crossed
}

function filtered(node: FilterNode, relations: Relations, crossed: Set<Resource>): void {
  switch (node.kind) {
    case 'and':
    case 'or':
      for (const child of node.nodes) filtered(child, relations, crossed)
      return
    case 'comparison':
      walk(node.path, relations, crossed)
      return
    case 'quantified':
      filtered(node.condition, walk(node.path, relations, crossed), crossed)
      return
  }
}

/** Follows a path as far as its names are relations, and gives the relations of where it ends. */
function walk({ segments }: Path, from: Relations, crossed: Set<Resource>): Relations {
  let relations = from
  let isMany = false
  for (const segment of segments) {
    // Behind a collection a quantifier's word is one, whatever relation has the same name.
    if (isMany && quantifierOf(segment) !== undefined) {
      isMany = false
      continue
    }
    const relation = relations.get(segment.toLowerCase())
    const reach = relation?.reach() ?? null
    if (relation === undefined || reach === null) break
    for (const resource of reach.resources) crossed.add(resource)
    relations = reach.relations
    isMany = relation.many
  }
  return relations
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
