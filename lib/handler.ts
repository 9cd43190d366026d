import type { Request, RequestHandler, Response } from 'express'
import type { Outcome } from '../types/outcome.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Reply } from '../types/reply.js'
import type { OperationName, Resource } from '../types/resource.js'
import { hiddenFrom } from './bind/index.js'
import type { Format } from './http/formats.js'
import { respond, respondError, setHeaders } from './http/respond.js'
import { callerOf } from './identity/identity.js'
import type { Operation } from './operations.js'
import { parse } from './parse/index.js'
import { commitOf, perform } from './perform/index.js'
import { planFor } from './read.js'
import { minimalOf, shape } from './shape/index.js'

/** An operation with what reads its bodies. */
export interface Served {
  readonly name: OperationName
  readonly row: Operation
  readonly parser: RequestHandler
  /** What its replies can be written in, the one that is meant where nobody says otherwise first. */
  readonly formats: readonly Format[]
}

/**
 * The handler of one operation. A request is admitted, parsed, planned (its names bound, those asked who have a say),
 * performed, announced, shaped and answered; whoever has read this function and `planFor` has seen the program.
 */
export function handlerOf(resource: Resource, { name: operation, row, parser, formats }: Served): RequestHandler {
  const { behaviours } = resource
  const { admit, accept, around } = behaviours

  async function reply(req: Request, res: Response): Promise<Reply> {
    setHeaders(res, behaviours.headers)
    const identity = resource.identity === null ? null : await callerOf(resource.identity, req)
    const caller: Caller = { request: req, identity, instant: new Date() }
    if (admit) await admit(resource, operation, caller)
    const sent = await parse(resource, row, { req, res, parser, hidden: hiddenFrom(caller, resource) })
    if (row.body !== null) await resource.canValidate
    const intent = accept && row.body !== null ? await accept(resource, sent, caller) : sent
    const answered = async (): Promise<Reply> => {
      const planned = await planFor(resource, intent, caller, (headers) => setHeaders(res, headers))
      const outcome = await performed(resource, planned, caller)
      const address = { url: req.originalUrl, collection: pathOf(req) }
      const whole = shape(resource, row, planned, outcome, address)
      return 'minimal' in intent && intent.minimal ? minimalOf(whole) : whole
    }
    return around ? around({ resource, operation, intent, caller }, answered) : answered()
  }

  return (req, res) =>
    // Express 4 does not wait for handlers, so nothing may be thrown at it.
    reply(req, res)
      .then((sent) => respond(req, res, sent, formats))
      .catch((error: unknown) => respondError(req, res, error, resource.onError))
}

/** Does what a plan says, and announces it where it is to be announced. */
async function performed(resource: Resource, plan: Plan, caller: Caller): Promise<Outcome> {
  const { announce, inTurn } = resource.behaviours
  if (announce === null) return perform(resource, plan)
  const commit = commitOf(resource)
  const write = async (): Promise<Outcome> => {
    const outcome = await perform(resource, plan)
    commit.follow(() => announce(resource, plan, outcome, caller))
    return outcome
  }
  return inTurn === null || commit.isHosts ? write() : inTurn(plan, write)
}

/** The path of a collection's request as the client sees it, mount point included. */
function pathOf({ baseUrl, path }: Request): string {
  const whole = baseUrl + path
  let end = whole.length
  // A pattern would begin anew at each slash of a path that has many.
  while (whole[end - 1] === '/') end -= 1
  return whole.slice(0, end)
}
