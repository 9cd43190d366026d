import type { Request, RequestHandler, Response } from 'express'
import type { Caller } from '../types/plan.js'
import type { OperationName, Reply, Resource } from '../types/resource.js'
import { parse } from './parse/index.js'
import { perform } from './perform/index.js'
import { plan } from './plan/index.js'
import { respond, respondError } from './respond.js'
import { shape } from './shape/index.js'

/**
 * The handler of one operation. A request is admitted, parsed, planned, performed, shaped and answered; whoever has
 * read this function has seen the program.
 */
export function handlerOf(resource: Resource, operation: OperationName, parser: RequestHandler): RequestHandler {
  const { admit, amend } = resource.behaviours

  async function reply(req: Request, res: Response): Promise<Reply> {
    const caller: Caller = { request: req, identity: null, instant: new Date() }
    if (admit) await admit(resource, operation, caller)
    const intent = await parse(resource, operation, parser, req, res)
    const planned = plan(resource, intent, caller)
    const amended = amend ? await amend(resource, planned, caller) : planned
    const outcome = await perform(resource, amended)
    return shape(resource, amended, outcome, { url: req.originalUrl, collection: pathOf(req) })
  }

  return (req, res) =>
    // Express 4 does not wait for handlers, so nothing may be thrown at it.
    reply(req, res)
      .then((sent) => respond(res, sent))
      .catch((error: unknown) => respondError(req, res, error, resource.onError))
}

/** The path of a collection's request as the client sees it, mount point included. */
function pathOf({ baseUrl, path }: Request): string {
  return (baseUrl + path).replace(/\/+$/, '')
}
