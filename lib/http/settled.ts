import type { NextFunction, Request, Response, Router } from 'express'
import { foresee, isForeseen } from './foreseen.js'
import { asTables } from './tables.js'

/** The prototypes with which requests and responses are made, so that Express has nothing to change about those. */
const own = new WeakSet<object>()

/** What is made with this prototype from the start needs no settling. */
export function isMadeWith(prototype: object): void {
  own.add(prototype)
}

/** From its version 13 on, that of Node 24, V8 describes such objects alike by itself, and a table would be the slower of the two. */
const isNeeded = Number.parseInt(process.versions.v8 ?? '', 10) < 13

/** The response that was settled last: what a router has settled comes to a handler then. */
let last: Response | null = null

/** Makes the further uses of a request and its response cheap, where they are not yet. */
export function settle(req: Request, res: Response): void {
  if (!isNeeded || res === last) return
  last = res
  if (!isMadeFor(res) && !isForeseen(req, res)) asTables(req, res)
}

function isMadeFor(res: Response): boolean {
  return own.has(Object.getPrototypeOf(res))
}

/** The same when a handler has it, for whom those that come after it need no settling any more. */
export function settleHandled(req: Request, res: Response): void {
  settle(req, res)
  if (isNeeded && !isMadeFor(res)) foresee(req, res)
}

interface Handling {
  handle(req: Request, res: Response, next: NextFunction): void
}

/**
 * Has a router settle what comes to it for its own paths before it looks for a route, which gives the request more members. What is
 * for others is left as it is: a table that gets another prototype once more, from a mounted application, would cost the more.
 */
export function settleBefore(router: Router & Partial<Handling>, route: string): void {
  const inherited: Partial<Handling> = Object.getPrototypeOf(router)
  if (!isNeeded || typeof inherited.handle !== 'function') return
  // Up to what is a pattern. What is written in another way is settled by its handler.
  const [prefix = ''] = /^[\w/.~-]*/.exec(route) ?? []
  const handle: Handling['handle'] = (req, res, next) => {
    if (req.url.startsWith(prefix)) settle(req, res)
    // Looked up each time: those who trace requests put a function of theirs there.
    inherited.handle?.call(router, req, res, next)
  }
  router.handle = handle
}
