import type { Request, RequestHandler, Response } from 'express'
import type { Identity } from '../../types/identity.js'
import type { Caller } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Relation, Resource } from '../../types/resource.js'
import { holdersOf, isClosed } from '../bind/index.js'
import { problem } from '../common/problem.js'
import { servingOf } from '../common/serving.js'
import type { Format } from '../http/formats.js'
import { respond, respondClosed, respondError, setHeaders } from '../http/respond.js'
import { callerOf } from '../identity/identity.js'
import type { OperationTable, PathMethod } from '../operations.js'
import { ACCEPT_QUERY, assertQueried, type BodyParsers, isQuery, readQuery, TAKES_QUERY } from '../parse/queried.js'
import { withLogging } from '../perform/logging.js'
import { isWatched } from '../watch/channels.js'
import { answerWatched, type WatchedRequest } from '../watch/request.js'
import { admit, type NestedRequest } from './request.js'
import { kindOf, type Parties, RELATION_ROUTES, type RelationRoute } from './routes.js'

/** What the routes of relations are made of. */
export interface NestedServed {
  readonly operations: OperationTable
  readonly formats: readonly Format[]
  /** Whether a request for a list wants a file of its records. */
  readonly isFile: (req: Request) => boolean
  readonly parsersOf: (resource: Resource) => BodyParsers
  /** What a path answers to the methods that it does not have. */
  readonly otherwise: (methods: readonly PathMethod[]) => RequestHandler
}

/**
 * The handler of all methods below a relation of a record: of the relation itself or, with `item`, of one record behind
 * it. Which methods there are is known when the request comes, since the target mounts at any time.
 */
export function nestedHandlerOf(resource: Resource, name: string, item: boolean, served: NestedServed): RequestHandler {
  const { formats, otherwise } = served
  const names = formats.flatMap(({ name: each }) => each ?? [])

  async function reply(req: Request, res: Response, watched: WatchedRequest | null): Promise<Reply | RequestHandler> {
    setHeaders(res, resource.behaviours.headers)
    const relation = resource.relations().get(name.toLowerCase())
    if (relation === undefined) throw new TypeError(`${resource.name} has lost its association ${name}`)
    const parties = partiesOf(resource, relation)
    const { target, link } = parties
    for (const each of [target, link]) if (each !== null) setHeaders(res, each.behaviours.headers)
    const routes = routesFor(relation, item, parties)
    const route = routes.find((each) => isFor(each, req))
    const identity = identityFor(parties, req)
    if (await isHidden(relation, parties, req, route === undefined ? identity.known : identity.asked)) {
      throw problem('not-found')
    }
    if (routes.length === 0) throw problem('not-found')
    if (route === undefined) return otherwise(routes.flatMap(methodsOf))
    if (route.queried && TAKES_QUERY) res.setHeader('Accept-Query', ACCEPT_QUERY)
    const instant = new Date()
    const caller: Caller = { request: req, identity: await identity.asked(), instant }
    const party = (each: Resource) => ({ resource: each, caller: { ...caller } })
    const { parsersOf, operations, isFile } = served
    // Its parameters say what it asks of the target.
    if (isQuery(req)) await readQuery(target, parsersOf(target), req, res)
    const varies = route.meant !== undefined && target.operations.has('export')
    if (varies) res.vary('Accept')
    const request: NestedRequest = {
      relation,
      owner: party(resource),
      target: party(target),
      link: link === null ? null : party(link),
      req,
      res,
      parsersOf,
      operations,
      operation: route.meant?.(target, req, varies && isFile(req)) ?? route.asks.target,
      formats: names,
    }
    watched?.isFor(request.operation)
    await admit(request.owner, route.asks.owner)
    await admit(request.target, request.operation)
    // Which links are new is known within the transaction.
    if (route.writes && relation.link === null) assertWritable(request)
    assertQueried(req)
    return route.answer(request)
  }

  const serving = servingOf(resource)
  const place = { resource, relation: name, operation: null }
  return (req, res, next) => {
    const served = async (asked: Request, to: Response, watched: WatchedRequest | null): Promise<void> => {
      if (serving.isClosed) {
        const closed = respondClosed(asked, to)
        watched?.failed(closed)
        return
      }
      const epoch = serving.begin()
      try {
        const sent = await reply(asked, to, watched)
        if (typeof sent === 'function') {
          sent(asked, to, next)
          return
        }
        if (sent.content.kind === 'export') serving.streams(to)
        await respond(asked, to, watched === null ? sent : watched.replied(sent), formats)
      } catch (error) {
        watched?.failed(error)
        respondError(asked, to, error, resource.onError)
      } finally {
        epoch.end()
      }
    }
    return withLogging(resource, req, () =>
      isWatched() ? answerWatched(place, req, res, served) : served(req, res, null),
    )
  }
}

/** @throws CrudConfigError where there is no telling which resource speaks for an end of the relation */
function partiesOf(owner: Resource, relation: Relation): Parties {
  return { owner, target: relation.speaker(), link: relation.link?.speaker() ?? null }
}

function routesFor(relation: Relation, item: boolean, parties: Parties): readonly RelationRoute[] {
  const kind = kindOf(relation)
  return RELATION_ROUTES.filter((route) => route.item === item && route.kinds.has(kind) && route.isServed(parties))
}

function isFor({ method, queried }: RelationRoute, req: Request): boolean {
  if (isQuery(req)) return queried === true
  return method === (req.method === 'HEAD' ? 'get' : req.method.toLowerCase())
}

function methodsOf({ method, queried }: RelationRoute): readonly PathMethod[] {
  return queried && TAKES_QUERY ? [method, 'query'] : [method]
}

interface Asking {
  readonly asked: () => Promise<Identity | null>
  /** The same where nothing but what may be known depends on it: credentials that do not hold are nobody's. */
  readonly known: () => Promise<Identity | null>
}

/** Who asks, by the function of the first of the resources that has one. Asked once. */
function identityFor({ owner, target, link }: Parties, req: Request): Asking {
  const identify = owner.identity ?? target.identity ?? link?.identity ?? null
  let answer: Promise<Identity | null> | null = null
  const asked = (): Promise<Identity | null> => {
    answer ??= identify === null ? Promise.resolve(null) : callerOf(identify, req)
    return answer
  }
  return { asked, known: () => asked().catch(() => null) }
}

/** Whether the caller may not know of the relation: what hides its foreign key hides its routes, whatever the method. */
async function isHidden(
  relation: Relation,
  { owner, target }: Parties,
  request: Request,
  ask: Asking['asked'],
): Promise<boolean> {
  const holders = holdersOf(relation, [owner], [target])
  const isMasked = holders.some(({ behaviours }) => behaviours.readable !== null)
  const identity = isMasked ? await ask() : null
  return isClosed(relation, holders, { request, identity, instant: new Date() })
}

/** Creating a record of an owner sets its foreign key, which is a write of it. @throws Problem 403 for whom it is masked */
function assertWritable({ relation, target: { resource, caller } }: NestedRequest): void {
  const { foreignKey } = relation.association
  const { writable } = resource.behaviours
  if (writable === null) return
  const isBarred = resource.fields.some((field) => field.name === foreignKey && !writable(field, caller))
  if (isBarred) throw problem('forbidden', { detail: 'You may not do this.' })
}
