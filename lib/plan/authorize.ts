import type { Intent } from '../../types/intent.js'
import type { Caller, Join, Predicate } from '../../types/plan.js'
import type { ForeignKeyReference, Resource, VisibleRecords } from '../../types/resource.js'
import type { ParentLink, RelationStep, View } from '../../types/view.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { mergeHeaders } from '../common/headers.js'
import { addCondition, joinPredicates } from '../common/predicates.js'
import { isRefusal } from '../common/problem.js'
import { isPromise } from '../common/promise.js'
import { foreignKeyResourcesOf, hiddenFieldsOf, isMemberWritable, isRelationClosed } from './access.js'
import { createRoot, type Root } from './path.js'
import { referenceConditionOf, referencesInBodies } from './references.js'
import { configuredResources, resourcesOfStep, resourcesOnPaths, walkRelations } from './relations.js'

const NONE: View['headers'] = Object.freeze({})

const NO_RESOURCES: ReadonlySet<Resource> = new Set()

/** Results of a request that involves no other resources. */
const UNASKED: ReadonlyMap<Resource, VisibleRecords> = new Map()

/** References of a view without foreign key checks. */
const NO_REFERENCES: View['references'] = new Map()

/**
 * Builds the view of a caller for one request. Before planning, each resource behind a relation path is authorized
 * once, as far as the caller may follow the path. The caller may not follow relations to unauthorized resources.
 */
export async function authorize(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  link: ParentLink | null = null,
): Promise<View> {
  const canReachRestricted = link !== null || resource.canReachRestricted()
  const related = canReachRestricted ? resourcesOnPaths(resource, intent, () => true, link?.relation) : NO_RESOURCES
  const answers =
    related.size === 0
      ? UNASKED
      : await authorizeRelations(createRoot(resource, link?.relation), intent, related, caller)
  const whole = createView(resource, answers, caller)
  const view = link === null ? whole : limitViewToParent(whole, link)
  const headers = relationHeadersOf(resource, intent, related, view)
  const references = referencesInBodies(resource, intent)
  if (references.length === 0) return { ...view, headers }
  const conditions = new Map<ForeignKeyReference, Predicate | null>()
  for (const each of references) conditions.set(each, await referenceConditionOf(each, caller))
  const referred = references.flatMap(({ resources }) => resources.map(({ behaviours }) => behaviours.headers))
  return { ...view, references: conditions, headers: mergeHeaders([headers, ...referred]) }
}

/** Builds the view of a caller. Authorizes each of the `related` resources once. */
export async function authorizeResources(
  resource: Resource,
  related: ReadonlySet<Resource>,
  caller: Caller,
): Promise<View> {
  const answers = new Map<Resource, VisibleRecords>()
  for (const target of related) {
    if (target.behaviours.visibleRecords) answers.set(target, await authorizeTarget(target, caller))
  }
  return createView(resource, answers, caller)
}

/**
 * Builds the view of a caller synchronously, for callers without an HTTP request. Relations behind an asynchronous
 * policy or scope cannot be followed.
 */
export function authorizeNow(resource: Resource, intent: Intent, caller: Caller): View {
  const answers = new Map<Resource, VisibleRecords>()
  for (let targets = findUnauthorized(createRoot(resource), intent, answers, caller); targets.size > 0; ) {
    for (const target of targets) answers.set(target, authorizeTargetNow(target, caller))
    targets = findUnauthorized(createRoot(resource), intent, answers, caller)
  }
  return createView(resource, answers, caller)
}

function authorizeTargetNow(target: Resource, caller: Caller): VisibleRecords {
  const answer = target.behaviours.visibleRecords?.(target, caller) ?? null
  if (!isPromise(answer)) return answer
  Promise.resolve(answer).catch(() => undefined)
  return false
}

/**
 * Authorizes the resources behind the relations of a request. Each round goes one permitted relation further than the
 * round before.
 */
async function authorizeRelations(
  root: Root,
  intent: Intent,
  related: ReadonlySet<Resource>,
  caller: Caller,
): Promise<ReadonlyMap<Resource, VisibleRecords>> {
  const answers = new Map<Resource, VisibleRecords>()
  if (![...related].some(({ behaviours }) => behaviours.visibleRecords !== null)) return answers
  for (let targets = findUnauthorized(root, intent, answers, caller); targets.size > 0; ) {
    for (const target of targets) answers.set(target, await authorizeTarget(target, caller))
    targets = findUnauthorized(root, intent, answers, caller)
  }
  return answers
}

/**
 * Returns the resources that are not authorized yet, behind relations that masks and previous results let the caller
 * follow.
 */
function findUnauthorized(
  root: Root,
  intent: Intent,
  answers: ReadonlyMap<Resource, VisibleRecords>,
  caller: Caller,
): ReadonlySet<Resource> {
  const { resource } = root
  const view = createView(resource, answers, caller)
  const found = new Set<Resource>()
  walkRelations(root, intent, (step) => {
    const { relation, access, from } = step
    const keyResources = foreignKeyResourcesOf(relation, from?.resources ?? [resource], access.resources)
    if (isRelationClosed(relation, keyResources, caller)) return false
    for (const each of resourcesOfStep(step))
      if (each.behaviours.visibleRecords !== null && !answers.has(each)) found.add(each)
    return view.join(step) !== null
  })
  return found
}

/** Creates the view of a caller from the authorization results of the resources behind relation paths. */
export function createView(resource: Resource, answers: ReadonlyMap<Resource, VisibleRecords>, caller: Caller): View {
  // Paths over one relation get one guard object, so that one join serves all these paths.
  const guards = new Map<readonly Resource[], VisibleRecords>()
  const conditionOf = (resources: readonly Resource[]): VisibleRecords =>
    getOrCreate(guards, resources, () => conjoin(resources.map((each) => visibleRecordsOf(answers, each))))
  return {
    hidden: () => hiddenFieldsOf(caller, resource),
    readable: ({ name }, access) =>
      (access?.resources ?? [resource]).every((each) => !hiddenFieldsOf(caller, each).has(name)),
    writable: (member) => isMemberWritable(resource, member, caller),
    join: ({ relation, access, from }) => {
      const { joinModel } = relation
      const guard = conditionOf(access.resources)
      const linkGuard = joinModel === null ? null : conditionOf(joinModel.resources())
      if (guard === false || linkGuard === false) return null
      const keyResources = foreignKeyResourcesOf(relation, from?.resources ?? [resource], access.resources)
      return isRelationClosed(relation, keyResources, caller)
        ? null
        : { relation, condition: guard, joinRowCondition: linkGuard, identity: access.order }
    },
    joinRow: null,
    references: NO_REFERENCES,
    headers: NONE,
  }
}

/** Limits the view of a list below a record. Only rows of the join model that link to this record are visible. */
function limitViewToParent(view: View, { relation, condition }: ParentLink): View {
  // All paths over the parent's relation get one object, so that one join serves all these paths.
  let known: Join | null = null
  const joinStep = (step: RelationStep): Join | null => {
    const join = view.join(step)
    if (join === null || step.relation !== relation || step.from !== null) return join
    known ??= { ...join, condition: addCondition(join.condition, condition) }
    return known
  }
  return { ...view, join: joinStep, joinRow: relation }
}

/**
 * Authorizes a resource behind a relation. Returns false instead of throwing a Problem, because the request may still
 * succeed without the relation.
 */
export async function authorizeTarget(target: Resource, caller: Caller): Promise<VisibleRecords> {
  try {
    return (await target.behaviours.visibleRecords?.(target, caller)) ?? null
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/**
 * Returns the headers of the resources behind paths. For a path from the client, only relations that the caller may
 * follow add headers. The headers therefore do not reveal other relations. Configured paths are public and add all
 * headers.
 */
function relationHeadersOf(
  resource: Resource,
  intent: Intent,
  related: ReadonlySet<Resource>,
  view: View,
): View['headers'] {
  if (![...related].some(({ behaviours }) => Object.keys(behaviours.headers).length > 0)) return NONE
  const open = resourcesOnPaths(resource, intent, (step) => view.join(step) !== null, view.joinRow)
  for (const each of configuredResources(resource, intent)) open.add(each)
  return mergeHeaders([...open].map(({ behaviours }) => behaviours.headers))
}

/** Returns the result for a resource behind a relation. A restricted resource without a result counts as denied. */
function visibleRecordsOf(answers: ReadonlyMap<Resource, VisibleRecords>, target: Resource): VisibleRecords {
  const answer = answers.get(target)
  if (answer !== undefined) return answer
  return target.behaviours.visibleRecords === null ? null : false
}

function conjoin(parts: readonly VisibleRecords[]): VisibleRecords {
  const open = parts.filter((part) => part !== false)
  return open.length < parts.length ? false : joinPredicates('and', open)
}
