import type { Request, RequestHandler, Response } from 'express'
import type { IdentityFunction } from '../types/identity.js'
import type { Intent } from '../types/intent.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Reply } from '../types/reply.js'
import type { OperationName, Resource, Sent } from '../types/resource.js'
import type { Done, Ordering, Work } from '../types/work.js'
import { announced } from './announce.js'
import { hiddenFrom } from './bind/index.js'
import { askAgain, shownWithin, workFor } from './bodies/index.js'
import { acceptEach } from './common/each.js'
import { Leaving } from './common/leaving.js'
import { isList } from './common/listing.js'
import { isPending } from './common/pending.js'
import { servingOf } from './common/serving.js'
import { originForm } from './common/target.js'
import type { Format } from './http/formats.js'
import { respond, respondClosed, respondError, setHeaders } from './http/respond.js'
import { callerNow } from './identity/identity.js'
import type { Operation } from './operations.js'
import { parse } from './parse/index.js'
import { isQuery } from './parse/queried.js'
import { inLine, type Once, performAll, performOnce } from './perform/index.js'
import { withLogging } from './perform/logging.js'
import { type Address, minimalOf, shape, shapeCollections, withHeld } from './shape/index.js'
import { isWatched } from './watch/channels.js'
import { answerWatched, type WatchedRequest } from './watch/request.js'

/** An operation with what reads its bodies. */
export interface Served {
  readonly name: OperationName
  readonly row: Operation
  readonly parser: RequestHandler
  /** What reads those that come as JSON lines. */
  readonly lines: RequestHandler
  /** What its replies can be written in, the one that is meant where nobody says otherwise first. */
  readonly formats: readonly Format[]
  /** Who asks, where it is not for the resource's own function to say. */
  readonly identify?: IdentityFunction
  /** What is to be made of what was read, where less is answered than the resource would. */
  readonly within?: (intent: Intent) => Intent
}

/**
 * The handler of one operation. A request is admitted, parsed, planned (its names bound, those asked who have a say),
 * performed, announced, shaped and answered; whoever has read this function and `planFor` has seen the program.
 */
export function handlerOf(
  resource: Resource,
  { name: operation, row, parser, lines, formats, identify = resource.identity ?? undefined, within }: Served,
): RequestHandler {
  const { behaviours } = resource
  const { admit } = behaviours
  const names = formats.flatMap(({ name }) => name ?? [])

  async function reply(req: Request, res: Response): Promise<Reply> {
    setHeaders(res, behaviours.headers)
    const asking = identify === undefined ? null : callerNow(identify, req)
    const identity = isPending(asking) ? await asking : asking
    const caller: Caller = { request: req, identity, instant: new Date() }
    const admitting = admit?.(resource, operation, caller)
    if (isPending(admitting)) await admitting
    const hidden = hiddenFrom(caller, resource)
    const parsed = parse(resource, row, { req, res, parser, lines: row.lines && lines, hidden, formats: names })
    const sent = isPending(parsed) ? await parsed : parsed
    return answer(
      { resource, operation, row, caller, res, address: new RequestAddress(req) },
      within ? within(sent) : sent,
    )
  }

  const serving = servingOf(resource)
  // Express 4 does not wait for handlers, so nothing may be thrown at it.
  const served = async (req: Request, res: Response, watched: WatchedRequest | null): Promise<void> => {
    if (serving.isClosed) {
      const closed = respondClosed(req, res)
      watched?.failed(closed)
      return
    }
    const epoch = serving.begin()
    try {
      const sent = await reply(req, res)
      if (sent.content.kind === 'export') serving.streams(res)
      await respond(req, res, watched === null ? sent : watched.replied(sent), formats)
    } catch (error) {
      watched?.failed(error)
      respondError(req, res, error, resource.onError)
    } finally {
      epoch.end()
    }
  }
  const place = { resource, relation: null, operation }
  return (req, res) =>
    withLogging(resource, req, () => (isWatched() ? answerWatched(place, req, res, served) : served(req, res, null)))
}

/** A request that was admitted, for one operation of a resource. */
export interface Admitted {
  readonly resource: Resource
  readonly operation: OperationName
  readonly row: Operation
  readonly caller: Caller
  readonly res: Response
  readonly address: Address
  /** What else is to hold of what is about to be done; nothing unless told. */
  readonly amend?: (plan: Plan) => Plan
}

/** The reply to what an admitted request asks for. */
export async function answer(admitted: Admitted, sent: Intent): Promise<Reply> {
  const { resource, operation, row, caller, res, address, amend } = admitted
  const { accept } = resource.behaviours
  if (row.body !== null) await resource.canValidate
  const intent = accept && row.body !== null ? await acceptEach(sent, (one) => accept(resource, one, caller)) : sent
  const sentBy = { resource, operation, intent, caller }
  return around(sentBy, async () => {
    const planning = workFor(resource, intent, caller, (headers) => setHeaders(res, headers))
    const meant = isPending(planning) ? await planning : planning
    const work = amend ? { ...meant, plan: amend(meant.plan) } : meant
    const made = (done: Done): Reply => {
      const shaped = withHeld(shape(resource, row, work.plan, done.outcome, address), done)
      const whole = isRead(work.plan) ? { ...shaped, responseBytes: resource.limits.responseBytes } : shaped
      return 'minimal' in intent && intent.minimal ? minimalOf(whole) : whole
    }
    return carriedOut(sentBy, work, made)
  })
}

/** A reply, as the behaviours let it be that stand around replies. */
export function around(sent: Sent, reply: () => Promise<Reply>): Promise<Reply> {
  const { around } = sent.resource.behaviours
  return around ? around(sent, reply) : reply()
}

/** The reply that is made of what was done, or was made when it was: a write may be one that is done once. */
export async function carriedOut(sent: Sent, work: Work, made: (done: Done) => Reply): Promise<Reply> {
  const { caller, resource } = sent
  const { once } = resource.behaviours
  const held = () => shownWithin(resource, caller)
  const ticket = once ? await once(sent, { ...work, held }) : null
  return ticket === null
    ? made(await withRecords(work, await performed(work, caller)))
    : inLine(ticket, () =>
        performedOnce(work, caller, (order) => performOnce(work, new Leaving(caller.request), { ticket, made, order })),
      )
}

function isRead(plan: Plan): boolean {
  return plan.kind === 'get' || isList(plan)
}

/** What was done, with the records of its collections, which may be many. */
async function withRecords({ plan }: Work, done: Done): Promise<Done> {
  if (!('projection' in plan) || plan.projection.embeds === undefined) return done
  const { outcome } = done
  if (outcome.kind === 'record') await shapeCollections(plan.projection, [outcome.row])
  else if ('rows' in outcome && outcome.kind !== 'deleted') await shapeCollections(plan.projection, outcome.rows)
  return done
}

/** Does what a plan says, and announces it where it is to be announced: owners before what is theirs. */
function performed(work: Work, caller: Caller): Promise<Done> {
  const { resource, branches, items } = work
  if (resource.behaviours.announce === null && branches === undefined && items === undefined)
    return performAll(work, new Leaving(caller.request))
  return announced(
    work,
    caller,
    (order) => performAll(work, new Leaving(caller.request), order),
    (done) => done,
  )
}

/** The same of a write that is done once. A reply that was kept tells of nothing new. */
async function performedOnce(
  work: Work,
  caller: Caller,
  write: (order: Ordering | undefined) => Promise<Once>,
): Promise<Reply> {
  const { reply, asked } = await announced(work, caller, write, ({ done }) => done)
  await askAgain(work, asked)
  return reply
}

/** Of a request; few replies name the path of their collection. */
class RequestAddress implements Address {
  readonly url: string | null
  readonly #req: Request

  constructor(req: Request) {
    this.url = isQuery(req) ? null : originForm(req.originalUrl)
    this.#req = req
  }

  get collection(): string {
    return pathOf(this.#req)
  }
}

/** The path of a request as the client sees it, mount point included. */
export function pathOf({ baseUrl, path }: Request): string {
  const whole = baseUrl + path
  let end = whole.length
  // A pattern would begin anew at each slash of a path that has many.
  while (whole[end - 1] === '/') end -= 1
  return whole.slice(0, end)
}
