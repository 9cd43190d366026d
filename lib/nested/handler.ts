import type { Call } from '../../types/call.js'
import type { Identity } from '../../types/identity.js'
import type { Caller } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import { requireField } from '../common/columns.js'
import { assertKeysWritable } from '../common/foreignKeyBinding.js'
import { internalError } from '../common/internalError.js'
import { problem } from '../common/problem.js'
import { identifyCaller } from '../identity/identity.js'
import type { PathMethod } from '../operations.js'
import { optionsReply } from '../parse/methods.js'
import {
  ACCEPT_QUERY,
  assertValidQueryBody,
  isQueryMethod,
  readQueryBody,
  SUPPORTS_QUERY,
} from '../parse/queryMethod.js'
import { foreignKeyResourcesOf, isRelationClosed } from '../plan/index.js'
import type { TracedRequest } from '../trace/request.js'
import { admit, type NestedRequest, type ResourceCaller } from './request.js'
import { RELATION_ROUTES, type RelationResources, type RelationRoute, relationKindOf } from './routes.js'

/** Path of a relation below a record. With `isItem`, the path of one record behind the relation. */
export interface NestedPath {
  readonly resource: Resource
  readonly relation: string
  readonly isItem: boolean
}

/**
 * Replies to a request below a relation of a record, for all methods. Looks up the target in each request, because the
 * target may be mounted at any time. `isFile` returns whether a list request wants a file.
 */
export async function handleNested(
  { resource, relation: name, isItem }: NestedPath,
  call: Call,
  { isFile, trace }: { readonly isFile: () => boolean; readonly trace: TracedRequest | null },
): Promise<Reply> {
  const relation = resource.relations().get(name.toLowerCase())
  if (relation === undefined)
    throw internalError(
      `the route of the association "${name}" exists, but ${resource.name} does not have the association`,
    )
  const parties = resolveResources(resource, relation)
  const { target, joinModelResource } = parties
  for (const each of [target, joinModelResource]) if (each !== null) call.addHeaders(each.behaviours.headers)
  const routes = findRoutes(relation, isItem, parties)
  const route = routes.find((each) => isRouteFor(each, call))
  const identity = createIdentityLookup(parties, call)
  if (
    await isRelationHidden(
      relation,
      parties,
      call,
      route === undefined ? identity.identifyOrAnonymous : identity.identify,
    )
  ) {
    throw problem('not-found')
  }
  if (routes.length === 0) throw problem('not-found')
  if (route === undefined) return optionsReply(call, routes.flatMap(methodsOf))
  if (route.queried && SUPPORTS_QUERY) call.addHeaders({ 'Accept-Query': ACCEPT_QUERY })
  const caller: Caller = { request: call.request, identity: await identity.identify(), instant: new Date() }
  // The body of a QUERY contains the parameters for the target.
  if (isQueryMethod(call)) await readQueryBody(target, call)
  const request = createNestedRequest(relation, parties, {
    call,
    caller,
    operation: resolveOperation(route, target, call, isFile),
  })
  trace?.setOperation(request.operation)
  await admitAll(route, request)
  assertValidQueryBody(call)
  const { ownKey } = resource.behaviours
  if (ownKey === null) return route.handle(request)
  const parentId = await ownKey(resource, request.parent.caller)
  // The parent is the caller's own record, but its URL is equal for all callers. A 304 could refer to the response of
  // another caller, so it is never sent.
  return { ...(await route.handle({ ...request, parentId })), isAlwaysSent: true }
}

/**
 * Returns the operation of the target. If the target has exports, the `Accept` header decides between a page and a
 * file.
 */
function resolveOperation(route: RelationRoute, target: Resource, call: Call, isFile: () => boolean): OperationName {
  if (route.resolveOperation === undefined) return route.policies.target
  const varies = target.operations.has('export')
  if (varies) call.addHeaders({ Vary: 'Accept' })
  return route.resolveOperation(target, call, varies && isFile())
}

function createNestedRequest(
  relation: Relation,
  { parent, target, joinModelResource }: RelationResources,
  { call, caller, operation }: { readonly caller: Caller } & Pick<NestedRequest, 'call' | 'operation'>,
): NestedRequest {
  const createCaller = (resource: Resource): ResourceCaller => ({ resource, caller: { ...caller } })
  const parentId = String(call.params.id ?? '')
  return {
    relation,
    parent: createCaller(parent),
    target: createCaller(target),
    joinModel: joinModelResource && createCaller(joinModelResource),
    call,
    parentId,
    operation,
  }
}

/**
 * Evaluates all policies of the request.
 * @throws Problem 401 or 403, or 404 if the caller may not write the foreign key of the new record
 */
async function admitAll(route: RelationRoute, { relation, parent, target, operation }: NestedRequest): Promise<void> {
  await admit(parent, route.policies.parent)
  await admit(target, operation)
  // For links, the transaction makes this check. Only new links write foreign keys, and only the transaction finds out
  // which links are new.
  if (!route.isWrite || relation.joinModel !== null) return
  assertKeysWritable(target.resource, [requireField(target.resource.fields, relation.attributes.target)], target.caller)
}

/**
 * Returns the resources at the ends of a relation.
 * @throws CrudConfigError if a resource is ambiguous
 */
function resolveResources(parent: Resource, relation: Relation): RelationResources {
  return {
    parent,
    target: relation.relatedResource(),
    joinModelResource: relation.joinModel?.joinModelResource() ?? null,
  }
}

function findRoutes(relation: Relation, item: boolean, parties: RelationResources): readonly RelationRoute[] {
  const kind = relationKindOf(relation)
  return RELATION_ROUTES.filter((route) => route.isItem === item && route.kinds.has(kind) && route.isEnabled(parties))
}

function isRouteFor({ method, queried }: RelationRoute, call: Call): boolean {
  if (isQueryMethod(call)) return queried === true
  return method === (call.method === 'HEAD' ? 'get' : call.method.toLowerCase())
}

function methodsOf({ method, queried }: RelationRoute): readonly PathMethod[] {
  return queried && SUPPORTS_QUERY ? [method, 'query'] : [method]
}

interface IdentityLookup {
  readonly identify: () => Promise<Identity | null>
  /** Identity that determines whether the relation is visible. Invalid credentials count as anonymous. */
  readonly identifyOrAnonymous: () => Promise<Identity | null>
}

/** Looks up the identity of the caller by the first resource with an identity function. Calls the function once. */
function createIdentityLookup(
  { parent, target, joinModelResource }: RelationResources,
  { request }: Call,
): IdentityLookup {
  const identify = parent.identity ?? target.identity ?? joinModelResource?.identity ?? null
  let answer: Promise<Identity | null> | null = null
  const identifyOnce = (): Promise<Identity | null> => {
    answer ??= identify === null ? Promise.resolve(null) : identifyCaller(identify, request)
    return answer
  }
  return { identify: identifyOnce, identifyOrAnonymous: () => identifyOnce().catch(() => null) }
}

/**
 * Whether the relation is hidden from the caller. A hidden foreign key hides the relation's routes, for every method.
 */
async function isRelationHidden(
  relation: Relation,
  { parent, target }: RelationResources,
  { request }: Call,
  identify: IdentityLookup['identify'],
): Promise<boolean> {
  const keyResources = foreignKeyResourcesOf(relation, [parent], [target])
  const isMasked = keyResources.some(({ behaviours }) => behaviours.readable !== null)
  const identity = isMasked ? await identify() : null
  return isRelationClosed(relation, keyResources, { request, identity, instant: new Date() })
}
