import type { Call } from '../../types/call.js'
import type { Identity } from '../../types/identity.js'
import type { Caller } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import { fieldNamed } from '../common/columns.js'
import { tellHeaders } from '../common/headers.js'
import { problem } from '../common/problem.js'
import { assertWritable } from '../common/ties.js'
import { callerOf } from '../identity/identity.js'
import type { PathMethod } from '../operations.js'
import { optionsReply } from '../parse/methods.js'
import { ACCEPT_QUERY, assertQueried, isQuery, readQuery, TAKES_QUERY } from '../parse/queried.js'
import { holdersOf, isClosed } from '../plan/index.js'
import type { WatchedRequest } from '../watch/request.js'
import { admit, type NestedRequest, type Party } from './request.js'
import { kindOf, type Parties, RELATION_ROUTES, type RelationRoute } from './routes.js'

/** A path below a record: for a relation, or with `item` for one record behind the relation. */
export interface NestedPlace {
  readonly resource: Resource
  readonly relation: string
  readonly item: boolean
}

/**
 * Replies to a request below a relation of a record, for all methods. The methods depend on the target, which may mount at any time, so
 * they are looked up in each request. `isFile` returns whether a list request wants a file.
 */
export async function nestedReply(
  { resource, relation: name, item }: NestedPlace,
  call: Call,
  { isFile, watched }: { readonly isFile: () => boolean; readonly watched: WatchedRequest | null },
): Promise<Reply> {
  tellHeaders(resource, call)
  const relation = resource.relations().get(name.toLowerCase())
  if (relation === undefined) throw new TypeError(`${resource.name} has lost its association ${name}`)
  const parties = partiesOf(resource, relation)
  const { target, link } = parties
  for (const each of [target, link]) if (each !== null) call.tell(each.behaviours.headers)
  const routes = routesFor(relation, item, parties)
  const route = routes.find((each) => isFor(each, call))
  const identity = identityFor(parties, call)
  if (await isHidden(relation, parties, call, route === undefined ? identity.known : identity.asked)) {
    throw problem('not-found')
  }
  if (routes.length === 0) throw problem('not-found')
  if (route === undefined) return optionsReply(call, routes.flatMap(methodsOf))
  if (route.queried && TAKES_QUERY) call.tell({ 'Accept-Query': ACCEPT_QUERY })
  const caller: Caller = { request: call.request, identity: await identity.asked(), instant: new Date() }
  // The body of a QUERY has the parameters for the target.
  if (isQuery(call)) await readQuery(target, call)
  const request = requestFor(relation, parties, { call, caller, operation: operationOf(route, target, call, isFile) })
  watched?.isFor(request.operation)
  await admitAll(route, request)
  assertQueried(call)
  const { ownKey } = resource.behaviours
  if (ownKey === null) return route.answer(request)
  const ownerId = await ownKey(resource, request.owner.caller)
  // The response has the same URL for all callers.
  return { ...(await route.answer({ ...request, ownerId })), isAlwaysSent: true }
}

/** Operation of the target. If the target has exports, the `Accept` header decides between a page and a file. */
function operationOf(route: RelationRoute, target: Resource, call: Call, isFile: () => boolean): OperationName {
  if (route.meant === undefined) return route.asks.target
  const varies = target.operations.has('export')
  if (varies) call.tell({ Vary: 'Accept' })
  return route.meant(target, call, varies && isFile())
}

function requestFor(
  relation: Relation,
  { owner, target, link }: Parties,
  { call, caller, operation }: { readonly caller: Caller } & Pick<NestedRequest, 'call' | 'operation'>,
): NestedRequest {
  const party = (resource: Resource): Party => ({ resource, caller: { ...caller } })
  const ownerId = String(call.params.id ?? '')
  return { relation, owner: party(owner), target: party(target), link: link && party(link), call, ownerId, operation }
}

/** Evaluates all policies of the request. @throws Problem 401, 403, or 404 for a caller who may not write the foreign key of the new record */
async function admitAll(route: RelationRoute, { relation, owner, target, operation }: NestedRequest): Promise<void> {
  await admit(owner, route.asks.owner)
  await admit(target, operation)
  // Only the transaction finds out which links are new.
  if (!route.writes || relation.link !== null) return
  assertWritable(target.resource, [fieldNamed(target.resource.fields, relation.ends.target)], target.caller)
}

/** Resources at the ends of a relation. @throws CrudConfigError if a resource is ambiguous */
function partiesOf(owner: Resource, relation: Relation): Parties {
  return { owner, target: relation.speaker(), link: relation.link?.speaker() ?? null }
}

function routesFor(relation: Relation, item: boolean, parties: Parties): readonly RelationRoute[] {
  const kind = kindOf(relation)
  return RELATION_ROUTES.filter((route) => route.item === item && route.kinds.has(kind) && route.isServed(parties))
}

function isFor({ method, queried }: RelationRoute, call: Call): boolean {
  if (isQuery(call)) return queried === true
  return method === (call.method === 'HEAD' ? 'get' : call.method.toLowerCase())
}

function methodsOf({ method, queried }: RelationRoute): readonly PathMethod[] {
  return queried && TAKES_QUERY ? [method, 'query'] : [method]
}

interface Asking {
  readonly asked: () => Promise<Identity | null>
  /** Identity for deciding whether the relation is visible. Invalid credentials count as anonymous. */
  readonly known: () => Promise<Identity | null>
}

/** Identity of the caller, from the first resource with an identity function. The function is called once. */
function identityFor({ owner, target, link }: Parties, { request }: Call): Asking {
  const identify = owner.identity ?? target.identity ?? link?.identity ?? null
  let answer: Promise<Identity | null> | null = null
  const asked = (): Promise<Identity | null> => {
    answer ??= identify === null ? Promise.resolve(null) : callerOf(identify, request)
    return answer
  }
  return { asked, known: () => asked().catch(() => null) }
}

/** Whether the relation is hidden from the caller. A hidden foreign key hides the relation's routes for every method. */
async function isHidden(
  relation: Relation,
  { owner, target }: Parties,
  { request }: Call,
  ask: Asking['asked'],
): Promise<boolean> {
  const holders = holdersOf(relation, [owner], [target])
  const isMasked = holders.some(({ behaviours }) => behaviours.readable !== null)
  const identity = isMasked ? await ask() : null
  return isClosed(relation, holders, { request, identity, instant: new Date() })
}
