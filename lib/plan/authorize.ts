import type { Intent } from '../../types/intent.js'
import type { Caller, Hop, Predicate } from '../../types/plan.js'
import type { Reachable, Reference, Resource } from '../../types/resource.js'
import type { Crossing, OwnerLink, View } from '../../types/view.js'
import { mergedHeaders } from '../common/headers.js'
import { isPending } from '../common/pending.js'
import { both, junction } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'
import { hiddenFrom, holdersOf, isClosed, isWritable } from './access.js'
import { type Root, rootOf } from './path.js'
import { referencesIn, targetsOf } from './references.js'
import { crossedResources, hostedResources, resourcesOf, walkRelations } from './relations.js'

const NONE: View['headers'] = Object.freeze({})

/** Results for a request without other resources. */
const UNASKED: ReadonlyMap<Resource, Reachable> = new Map()

/** Foreign keys of bodies that need no foreign key check. */
const UNBOUND: View['references'] = new Map()

/**
 * Builds the view of a caller for one request. Before planning, each resource behind a relation path is authorized once, as far as the
 * caller may follow the path. Relations to unauthorized resources stay closed.
 */
export async function authorize(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  link: OwnerLink | null = null,
): Promise<View> {
  const crossed = crossedResources(resource, intent, () => true, link?.relation)
  const isAlone = crossed.size === 0
  const answers = isAlone ? UNASKED : await answersTo(rootOf(resource, link?.relation), intent, crossed, caller)
  const whole = viewBy(resource, answers, caller)
  const view = link === null ? whole : viewBelow(whole, link)
  const headers = isAlone ? NONE : headersOf(resource, intent, crossed, view)
  const references = referencesIn(resource, intent)
  if (references.length === 0) return { ...view, headers }
  const conditions = new Map<Reference, Predicate | null>()
  for (const each of references) conditions.set(each, await targetsOf(each, caller))
  const referred = references.flatMap(({ resources }) => resources.map(({ behaviours }) => behaviours.headers))
  return { ...view, references: conditions, headers: mergedHeaders([headers, ...referred]) }
}

/** Builds the view of a caller and authorizes each of the crossed resources once. */
export async function viewOver(resource: Resource, crossed: ReadonlySet<Resource>, caller: Caller): Promise<View> {
  const answers = new Map<Resource, Reachable>()
  for (const target of crossed) {
    if (target.behaviours.reach) answers.set(target, await reachOf(target, caller))
  }
  return viewBy(resource, answers, caller)
}

/** Builds the view of a caller synchronously, for callers without an HTTP request. Relations behind an asynchronous policy or scope stay closed. */
export function authorizeNow(resource: Resource, intent: Intent, caller: Caller): View {
  const answers = new Map<Resource, Reachable>()
  for (let targets = unanswered(rootOf(resource), intent, answers, caller); targets.size > 0; ) {
    for (const target of targets) answers.set(target, answerNow(target, caller))
    targets = unanswered(rootOf(resource), intent, answers, caller)
  }
  return viewBy(resource, answers, caller)
}

function answerNow(target: Resource, caller: Caller): Reachable {
  const answer = target.behaviours.reach?.(target, caller) ?? null
  if (!isPending(answer)) return answer
  Promise.resolve(answer).catch(() => undefined)
  return false
}

/** Authorizes the resources behind the relations of a request. Each round goes one open relation further than the last. */
async function answersTo(
  root: Root,
  intent: Intent,
  crossed: ReadonlySet<Resource>,
  caller: Caller,
): Promise<ReadonlyMap<Resource, Reachable>> {
  const answers = new Map<Resource, Reachable>()
  if (![...crossed].some(({ behaviours }) => behaviours.reach !== null)) return answers
  for (let targets = unanswered(root, intent, answers, caller); targets.size > 0; ) {
    for (const target of targets) answers.set(target, await reachOf(target, caller))
    targets = unanswered(root, intent, answers, caller)
  }
  return answers
}

/** Resources that are not authorized yet, behind relations that masks and previous results leave open to the caller. */
function unanswered(
  root: Root,
  intent: Intent,
  answers: ReadonlyMap<Resource, Reachable>,
  caller: Caller,
): ReadonlySet<Resource> {
  const { resource } = root
  const view = viewBy(resource, answers, caller)
  const found = new Set<Resource>()
  walkRelations(root, intent, (crossing) => {
    const { relation, reach, from } = crossing
    const holders = holdersOf(relation, from?.resources ?? [resource], reach.resources)
    if (isClosed(relation, holders, caller)) return false
    for (const each of resourcesOf(crossing)) if (each.behaviours.reach !== null && !answers.has(each)) found.add(each)
    return view.cross(crossing) !== null
  })
  return found
}

/** The view of a caller, from the results of the resources behind relation paths. */
export function viewBy(resource: Resource, answers: ReadonlyMap<Resource, Reachable>, caller: Caller): View {
  // Paths over one relation share one guard object, so that they can share a join.
  const guards = new Map<readonly Resource[], Reachable>()
  const guardOf = (resources: readonly Resource[]): Reachable => {
    const known = guards.get(resources)
    if (known !== undefined) return known
    const guard = conjunction(resources.map((each) => answerOf(answers, each)))
    guards.set(resources, guard)
    return guard
  }
  return {
    hidden: () => hiddenFrom(caller, resource),
    readable: ({ name }, reach) => !(reach?.resources ?? [resource]).some((each) => hiddenFrom(caller, each).has(name)),
    writable: (member) => isWritable(resource, member, caller),
    cross: ({ relation, reach, from }) => {
      const { link } = relation
      const guard = guardOf(reach.resources)
      const linkGuard = link === null ? null : guardOf(link.resources())
      if (guard === false || linkGuard === false) return null
      const holders = holdersOf(relation, from?.resources ?? [resource], reach.resources)
      return isClosed(relation, holders, caller) ? null : { relation, guard, linkGuard, identity: reach.order }
    },
    link: null,
    references: UNBOUND,
    headers: NONE,
  }
}

/** The view of a list below a record. Only rows of the join model that link to this record are visible. */
function viewBelow(view: View, { relation, pair }: OwnerLink): View {
  // Paths over the relation share one object, so that they can share a join.
  let known: Hop | null = null
  const cross = (crossing: Crossing): Hop | null => {
    const hop = view.cross(crossing)
    if (hop === null || crossing.relation !== relation || crossing.from !== null) return hop
    known ??= { ...hop, guard: both(hop.guard, pair) }
    return known
  }
  return { ...view, cross, link: relation }
}

/** Authorizes a resource behind a relation. A Problem closes the relation and does not become the response of the request. */
export async function reachOf(target: Resource, caller: Caller): Promise<Reachable> {
  try {
    return (await target.behaviours.reach?.(target, caller)) ?? null
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/**
 * Headers of the resources behind paths. A path from the client adds the headers of its open part only, to hide whether the rest exists.
 * Configured paths are no secret and add all their headers.
 */
function headersOf(resource: Resource, intent: Intent, crossed: ReadonlySet<Resource>, view: View): View['headers'] {
  if (![...crossed].some(({ behaviours }) => Object.keys(behaviours.headers).length > 0)) return NONE
  const open = crossedResources(resource, intent, (crossing) => view.cross(crossing) !== null, view.link)
  for (const each of hostedResources(resource, intent)) open.add(each)
  return mergedHeaders([...open].map(({ behaviours }) => behaviours.headers))
}

/** Result for a resource behind a relation. A restricted resource without a result keeps the relation closed. */
function answerOf(answers: ReadonlyMap<Resource, Reachable>, target: Resource): Reachable {
  const answer = answers.get(target)
  if (answer !== undefined) return answer
  return target.behaviours.reach === null ? null : false
}

function conjunction(parts: readonly Reachable[]): Reachable {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : junction('and', open)
}
