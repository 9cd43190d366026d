import type { Request, RequestHandler, Response } from 'express'
import type { Outcome } from '../types/outcome.js'
import type { Caller, Plan } from '../types/plan.js'
import type { OperationName, Reply, Resource } from '../types/resource.js'
import { ask, bind, hiddenFrom } from './bind/index.js'
import { respond, respondError, setHeaders } from './http/respond.js'
import { callerOf } from './identity/identity.js'
import type { Operation } from './operations.js'
import { parse } from './parse/index.js'
import { commitOf, perform } from './perform/index.js'
import { plan } from './plan/index.js'
import { shape } from './shape/index.js'

/** An operation with what reads its bodies. */
export interface Served {
  readonly name: OperationName
  readonly row: Operation
  readonly parser: RequestHandler
}

/**
 * The handler of one operation. A request is admitted, parsed, bound, asked for, planned, performed, announced, shaped and
 * answered;
 * whoever has read this function has seen the program.
 */
export function handlerOf(resource: Resource, { name: operation, row, parser }: Served): RequestHandler {
  const { behaviours } = resource
  const { admit, accept, around, amend } = behaviours

  async function reply(req: Request, res: Response): Promise<Reply> {
    setHeaders(res, behaviours.headers)
    const identity = resource.identity === null ? null : await callerOf(resource.identity, req)
    const caller: Caller = { request: req, identity, instant: new Date() }
    if (admit) await admit(resource, operation, caller)
    const sent = await parse(resource, row, { req, res, parser, hidden: hiddenFrom(caller, resource) })
    if (row.body !== null) await resource.canValidate
    const intent = accept && row.body !== null ? await accept(resource, sent, caller) : sent
    const answered = async (): Promise<Reply> => {
      const bound = bind(resource, intent)
      const view = await ask(resource, bound, caller)
      setHeaders(res, view.headers)
      const planned = plan(resource, bound, view, caller)
      const amended = amend ? await amend(resource, planned, caller) : planned
      const outcome = await performed(resource, amended, caller)
      return shape(resource, row, amended, outcome, { url: req.originalUrl, collection: pathOf(req) })
    }
    return around ? around({ resource, operation, intent, caller }, answered) : answered()
  }

  return (req, res) =>
    // Express 4 does not wait for handlers, so nothing may be thrown at it.
    reply(req, res)
      .then((sent) => respond(req, res, sent))
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
