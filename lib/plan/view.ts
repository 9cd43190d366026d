import type { Reachable } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { Caller, View } from '../../types/plan.js'
import type { Link, Reach, Relation, Resource } from '../../types/resource.js'
import { mergedHeaders } from '../common/headers.js'
import { Problem } from '../common/problem.js'
import { type Crossing, crossedBy } from './crossing.js'
import { junction } from './filter.js'

/** The view of a caller on whom no behaviour has a say. */
export const OPEN: View = Object.freeze<View>({
  readable: () => true,
  cross: (relation: Relation) => ({ relation, guard: null, linkGuard: null }),
  headers: {},
})

const EVERYWHERE: Crossing = () => true

/**
 * What this caller may see in this request: every resource that a path of it crosses is asked once, before the plan is
 * made. What was not asked here stays closed.
 */
export async function viewOf(resource: Resource, intent: Intent, caller: Caller): Promise<View> {
  const crossed = crossedBy(resource, intent, EVERYWHERE)
  const { readable } = resource.behaviours
  if (crossed.size === 0 && readable === null) return OPEN
  const reachable = new Map<Resource, Reachable>()
  for (const target of crossed) {
    if (target.behaviours.reach) reachable.set(target, await reachOf(target, caller))
  }
  const view = viewBy(resource, reachable, caller)
  const speak = [...crossed].some(({ behaviours }) => Object.keys(behaviours.headers).length > 0)
  return speak ? { ...view, headers: headersOf(resource, intent, view) } : view
}

/**
 * The same without waiting, for callers without a request: what only a policy or a scope that takes its time could
 * open stays closed.
 */
export function viewNow(resource: Resource, intent: Intent, caller: Caller): View {
  const crossed = crossedBy(resource, intent, EVERYWHERE)
  const reachable = new Map<Resource, Reachable>()
  for (const target of crossed) {
    const answer = target.behaviours.reach?.(target, caller) ?? null
    if (answer instanceof Promise) answer.catch(() => undefined)
    else if (target.behaviours.reach) reachable.set(target, answer)
  }
  return viewBy(resource, reachable, caller)
}

/** What a caller may see, where the answers of the resources behind relation paths are known. */
export function viewBy(resource: Resource, reachable: ReadonlyMap<Resource, Reachable>, caller: Caller): View {
  const { readable } = resource.behaviours
  const answerOf = (target: Resource): Reachable => {
    const answer = reachable.get(target)
    if (answer !== undefined) return answer
    return target.behaviours.reach === null ? null : false
  }
  const guards = new Map<readonly Resource[], Reachable>()
  const guardOf = (resources: readonly Resource[]): Reachable => {
    const known = guards.get(resources)
    if (known !== undefined) return known
    const guard = conjunction(resources.map((each) => answerOf(each)))
    guards.set(resources, guard)
    return guard
  }
  const isOwn = (field: Field): boolean => readable === null || readable(field, caller)
  return {
    readable: (field, reach) =>
      reach === null
        ? isOwn(field)
        : reach.resources.every((each) => each.behaviours.readable === null || each.behaviours.readable(field, caller)),
    cross: (relation, reach, from) => {
      const guard = guardOf(reach.resources)
      const linkGuard = relation.link === null ? null : guardOf(relation.link.resources())
      if (guard === false || linkGuard === false) return null
      const isHidden =
        relation.link === null
          ? holdersOf(relation, reach, from?.resources ?? [resource]).some(masksKey(relation, caller))
          : relation.link.resources().some(hidesLink(relation.link, caller))
      return isHidden ? null : { relation, guard, linkGuard }
    },
    headers: NONE,
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

/** A path has the headers of one that ends where the caller may not go on: as if what lies behind did not exist. */
function headersOf(resource: Resource, intent: Intent, { cross }: View): View['headers'] {
  const open = crossedBy(resource, intent, (relation, reach, from) => cross(relation, reach, from) !== null)
  return mergedHeaders([...open].map(({ behaviours }) => behaviours.headers))
}

/** The resources over the table with the relation's foreign key. */
function holdersOf({ association }: Relation, reach: Reach, from: readonly Resource[]): readonly Resource[] {
  return association.associationType === 'BelongsTo' ? from : reach.resources
}

/** Whether a resource masks the relation's foreign key for the caller, whom the relation would tell the same. */
function masksKey({ association }: Relation, caller: Caller): (resource: Resource) => boolean {
  return (resource) => masks(resource, association.foreignKey, caller)
}

/** Whether a resource shows the caller one of the keys that link two records nowhere, or masks it. */
function hidesLink({ keys }: Link, caller: Caller): (resource: Resource) => boolean {
  return (resource) => {
    const fields = resource.fields.filter(({ name }) => keys.includes(name))
    const isShown = ({ targets }: Field): boolean => targets.has('response') || targets.has('list')
    return !fields.every(isShown) || fields.some(({ name }) => masks(resource, name, caller))
  }
}

function masks({ fields, behaviours: { guarded, readable } }: Resource, attribute: string, caller: Caller): boolean {
  if (readable === null || !guarded.includes(attribute)) return false
  const field = fields.find(({ name }) => name === attribute)
  return field !== undefined && !readable(field, caller)
}

const NONE: View['headers'] = Object.freeze({})

function conjunction(parts: readonly Reachable[]): Reachable {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : junction('and', open)
}
