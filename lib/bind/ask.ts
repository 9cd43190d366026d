import type { Bound, Crossing } from '../../types/bound.js'
import type { Caller, Hop } from '../../types/plan.js'
import type { Link, Reachable, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { mergedHeaders } from '../common/headers.js'
import { junction } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { flattenedResources } from './flatten.js'
import { hiddenFrom } from './hidden.js'
import { walkPaths } from './walk.js'

const NONE: View['headers'] = Object.freeze({})

/** The view of a caller on whom no behaviour has a say. */
const OPEN: View = Object.freeze<View>({
  readable: () => true,
  cross: ({ relation }) => ({ relation, guard: null, linkGuard: null }),
  headers: NONE,
})

/**
 * What this caller may see in this request: every resource that a path of it crosses is asked once, before the plan is
 * made. What was not asked here stays closed.
 */
export async function ask(resource: Resource, bound: Bound, caller: Caller): Promise<View> {
  const crossed = crossedBy(bound)
  if (crossed.size === 0 && resource.behaviours.readable === null) return OPEN
  const answers = new Map<Resource, Reachable>()
  for (const target of crossed) {
    if (target.behaviours.reach) answers.set(target, await reachOf(target, caller))
  }
  return withHeaders(bound, crossed, viewBy(resource, answers, caller))
}

/**
 * The same without waiting, for callers without a request: what only a policy or a scope that takes its time could
 * open stays closed.
 */
export function askNow(resource: Resource, bound: Bound, caller: Caller): View {
  const answers = new Map<Resource, Reachable>()
  for (const target of crossedBy(bound)) {
    const answer = target.behaviours.reach?.(target, caller) ?? null
    if (answer instanceof Promise) answer.catch(() => undefined)
    else if (target.behaviours.reach) answers.set(target, answer)
  }
  return viewBy(resource, answers, caller)
}

/** What a caller may see, where the answers of the resources behind relation paths are known. */
export function viewBy(resource: Resource, answers: ReadonlyMap<Resource, Reachable>, caller: Caller): View {
  const isHidden = (name: string) => (each: Resource) => hiddenFrom(caller, each).has(name)
  // A guard is one object however many paths meet it, so that they can share a join.
  const guards = new Map<readonly Resource[], Reachable>()
  const guardOf = (resources: readonly Resource[]): Reachable => {
    const known = guards.get(resources)
    if (known !== undefined) return known
    const guard = conjunction(resources.map((each) => answerOf(answers, each)))
    guards.set(resources, guard)
    return guard
  }
  const crossed = ({ relation, reach, from }: Crossing): Hop | null => {
    const { link } = relation
    const guard = guardOf(reach.resources)
    const linkGuard = link === null ? null : guardOf(link.resources())
    if (guard === false || linkGuard === false) return null
    const isClosed =
      link === null
        ? holdersOf(relation, reach, from?.resources ?? [resource]).some(isHidden(relation.association.foreignKey))
        : link.resources().some((each) => hidesLink(each, link, hiddenFrom(caller, each)))
    return isClosed ? null : { relation, guard, linkGuard }
  }
  const hops = new Map<Crossing, Hop | null>()
  return {
    readable: ({ name }, reach) => !(reach?.resources ?? [resource]).some(isHidden(name)),
    cross: (crossing) => {
      const known = hops.get(crossing)
      const hop = known === undefined ? crossed(crossing) : known
      hops.set(crossing, hop)
      return hop
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

/** The resources whose consent a request's paths need, and those that are flattened. */
function crossedBy(bound: Bound): ReadonlySet<Resource> {
  return throughBy(bound, () => true)
}

function throughBy(bound: Bound, goesOn: (crossing: Crossing) => boolean): ReadonlySet<Resource> {
  const crossed = new Set(flattenedResources(bound.flattened))
  walkPaths(bound, (crossing) => {
    if (!goesOn(crossing)) return false
    for (const each of crossing.reach.resources) crossed.add(each)
    for (const each of crossing.relation.link?.resources() ?? []) crossed.add(each)
    return true
  })
  return crossed
}

/** A path has the headers of one that ends where the caller may not go on: as if what lies behind did not exist. */
function withHeaders(bound: Bound, crossed: ReadonlySet<Resource>, view: View): View {
  const speak = [...crossed].some(({ behaviours }) => Object.keys(behaviours.headers).length > 0)
  if (!speak) return view
  const open = throughBy(bound, (crossing) => view.cross(crossing) !== null)
  return { ...view, headers: mergedHeaders([...open].map(({ behaviours }) => behaviours.headers)) }
}

/** Who was not asked and has a say keeps the way closed. */
function answerOf(answers: ReadonlyMap<Resource, Reachable>, target: Resource): Reachable {
  const answer = answers.get(target)
  if (answer !== undefined) return answer
  return target.behaviours.reach === null ? null : false
}

/** The resources over the table with the relation's foreign key, which the relation would tell. */
function holdersOf(
  { association }: Crossing['relation'],
  reach: Crossing['reach'],
  from: readonly Resource[],
): readonly Resource[] {
  return association.associationType === 'BelongsTo' ? from : reach.resources
}

/** Whether a resource shows the caller one of the keys that link two records nowhere, or masks it. */
function hidesLink({ fields }: Resource, { keys }: Link, hidden: ReadonlySet<string>): boolean {
  return fields.some(
    ({ name, targets }) =>
      keys.includes(name) && (hidden.has(name) || !(targets.has('response') || targets.has('list'))),
  )
}

function conjunction(parts: readonly Reachable[]): Reachable {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : junction('and', open)
}
