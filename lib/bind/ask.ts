import type { Bound, Crossing } from '../../types/bound.js'
import type { Caller, Hop, Predicate } from '../../types/plan.js'
import type { Reachable, Reference, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { mergedHeaders } from '../common/headers.js'
import { isPending } from '../common/pending.js'
import { junction } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'
import { holdersOf, isClosedWhere } from './closed.js'
import { flattenedResources } from './flatten.js'
import { type Hidden, hiddenFrom, NOTHING } from './hidden.js'
import { pointableOf } from './pointable.js'
import { type GoesOn, walkHosted, walkPaths } from './walk.js'
import { isWritable } from './writable.js'

const NONE: View['headers'] = Object.freeze({})

/** The view of a caller on whom no behaviour has a say. */
const OPEN: View = Object.freeze<View>({
  hidden: () => NOTHING,
  readable: () => true,
  writable: () => true,
  cross: ({ relation, reach }) => ({ relation, guard: null, linkGuard: null, identity: reach.order }),
  pointable: nothing,
  headers: NONE,
})

/**
 * What this caller may see in this request: every resource that a path of it crosses is asked once, before the plan is
 * made. What was not asked here stays closed.
 */
export function ask(resource: Resource, bound: Bound, caller: Caller): View | Promise<View> {
  const crossed = crossedBy(bound)
  const references = bound.kind === 'record' ? bound.references : []
  // Relations that bodies may name are closed by masks of other resources.
  const isOpen = resource.behaviours.readable === null && (bound.kind === 'list' || resource.holds.length === 0)
  if (references.length + crossed.size === 0 && isOpen) return OPEN
  // Nobody but the resource itself has a say, and at once.
  if (references.length + crossed.size === 0) return viewBy(resource, NO_ANSWERS, caller)
  return asked(resource, bound, { crossed, references }, caller)
}

const NO_ANSWERS: ReadonlyMap<Resource, Reachable> = new Map()

async function asked(
  resource: Resource,
  bound: Bound,
  { crossed, references }: { readonly crossed: ReadonlySet<Resource>; readonly references: readonly Reference[] },
  caller: Caller,
): Promise<View> {
  const answers = new Map<Resource, Reachable>()
  for (const target of crossed) {
    if (target.behaviours.reach) answers.set(target, await reachOf(target, caller))
  }
  const view = withHeaders(bound, crossed, viewBy(resource, answers, caller))
  return references.length === 0 ? view : withPointable(view, references, caller)
}

/** What was not asked cannot be pointed at. */
function nothing(): Predicate {
  return { kind: 'never' }
}

async function withPointable(view: View, references: readonly Reference[], caller: Caller): Promise<View> {
  const known = new Map<Reference, Predicate | null>()
  for (const each of references) known.set(each, await pointableOf(each, caller))
  const named = references.flatMap(({ resources }) => resources.map(({ behaviours }) => behaviours.headers))
  return {
    ...view,
    pointable: (reference) => known.get(reference) ?? (known.has(reference) ? null : nothing()),
    headers: mergedHeaders([view.headers, ...named]),
  }
}

/**
 * The same without waiting, for callers without a request: what only a policy or a scope that takes its time could
 * open stays closed.
 */
export function askNow(resource: Resource, bound: Bound, caller: Caller): View {
  const answers = new Map<Resource, Reachable>()
  for (const target of crossedBy(bound)) {
    const answer = target.behaviours.reach?.(target, caller) ?? null
    if (isPending(answer)) Promise.resolve(answer).catch(() => undefined)
    else if (target.behaviours.reach) answers.set(target, answer)
  }
  return viewBy(resource, answers, caller)
}

/** What a caller may see, where the answers of the resources behind relation paths are known. */
export function viewBy(resource: Resource, answers: ReadonlyMap<Resource, Reachable>, caller: Caller): View {
  return {
    ...viewWith(resource, answers, (each) => hiddenFrom(caller, each)),
    writable: (member) => isWritable(resource, member, caller),
  }
}

function viewWith(
  resource: Resource,
  answers: ReadonlyMap<Resource, Reachable>,
  hiddenIn: (each: Resource) => Hidden,
): Omit<View, 'writable'> {
  let own: Hidden | null = null
  const isHidden = (name: string, resources: readonly Resource[]): boolean =>
    resources.some((each) => hiddenIn(each).has(name))
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
    const holders = holdersOf(relation, from?.resources ?? [resource], reach.resources)
    return isClosedWhere(relation, holders, hiddenIn) ? null : { relation, guard, linkGuard, identity: reach.order }
  }
  const hidden = (): Hidden => {
    own ??= hiddenIn(resource)
    return own
  }
  const hops = new Map<Crossing, Hop | null>()
  return {
    hidden,
    readable: ({ name }, reach) => (reach === null ? !hidden().has(name) : !isHidden(name, reach.resources)),
    cross: (crossing) => {
      const known = hops.get(crossing)
      const hop = known === undefined ? crossed(crossing) : known
      hops.set(crossing, hop)
      return hop
    },
    pointable: nothing,
    headers: NONE,
  }
}

/** A Problem that refuses the caller closes the way; it is not the answer to a request of another resource. */
export async function reachOf(target: Resource, caller: Caller): Promise<Reachable> {
  try {
    return (await target.behaviours.reach?.(target, caller)) ?? null
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/** The resources whose consent a request's paths need, and those that are flattened. */
function crossedBy(bound: Bound): Set<Resource> {
  return throughBy(bound, () => true)
}

function throughBy(bound: Bound, goesOn: GoesOn): Set<Resource> {
  const crossed = new Set(flattenedResources(bound.flattened))
  walkPaths(bound, (crossing) => {
    if (!goesOn(crossing)) return false
    for (const each of behind(crossing)) crossed.add(each)
    return true
  })
  return crossed
}

function behind({ relation, reach }: Crossing): readonly Resource[] {
  return [...reach.resources, ...(relation.link?.resources() ?? [])]
}

/**
 * A path that the client names has the headers of one that ends where the caller may not go on: as if what lies behind did
 * not exist. What the host configured is no secret, and whether it has a say differs by caller: it has all of them.
 */
function withHeaders(bound: Bound, crossed: ReadonlySet<Resource>, view: View): View {
  const speak = [...crossed].some(({ behaviours }) => Object.keys(behaviours.headers).length > 0)
  if (!speak) return view
  const open = throughBy(bound, (crossing) => view.cross(crossing) !== null)
  walkHosted(bound, (crossing) => {
    for (const each of behind(crossing)) open.add(each)
    return true
  })
  return { ...view, headers: mergedHeaders([...open].map(({ behaviours }) => behaviours.headers)) }
}

/** Who was not asked and has a say keeps the way closed. */
function answerOf(answers: ReadonlyMap<Resource, Reachable>, target: Resource): Reachable {
  const answer = answers.get(target)
  if (answer !== undefined) return answer
  return target.behaviours.reach === null ? null : false
}

function conjunction(parts: readonly Reachable[]): Reachable {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : junction('and', open)
}
