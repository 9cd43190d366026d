import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Makes the further uses of a request and its response cheap. Express gives each of them another prototype, and members behind
 * that: for such an object V8 makes a description of its own, and whoever uses it, Node's own code first of all, has to look up
 * every member anew in each request. An object that has lost a member is kept as a table instead, and all tables of a kind
 * share their description.
 */
export function asTables(req: IncomingMessage, res: ServerResponse): void {
  if (Object.hasOwn(res, 'sendDate')) {
    const { sendDate } = res
    Reflect.deleteProperty(res, 'sendDate')
    res.sendDate = sendDate
  }
  if (Object.hasOwn(req, 'complete')) {
    const { complete } = req
    Reflect.deleteProperty(req, 'complete')
    req.complete = complete
  }
}
