import type { Request, Response } from 'express'

/** The prototypes with which requests and responses are made, so that Express has nothing to change about those. */
const own = new WeakSet<object>()

/** What is made with this prototype from the start needs no settling. */
export function isMadeWith(prototype: object): void {
  own.add(prototype)
}

/** From its version 13 on, that of Node 24, V8 describes such objects alike by itself, and a table would be the slower of the two. */
const isNeeded = Number.parseInt(process.versions.v8 ?? '', 10) < 13

/**
 * Makes the further uses of a request and its response cheap. Express gives each of them another prototype, and members behind
 * that: for such an object V8 makes a description of its own, and whoever uses it, Node's own code first of all, has to look up
 * every member anew in each request. An object that has lost a member is kept as a table instead, and all tables of a kind
 * share their description.
 */
export function settle(req: Request, res: Response): void {
  if (!isNeeded) return
  if (Object.hasOwn(res, 'sendDate') && !own.has(Object.getPrototypeOf(res))) {
    const { sendDate } = res
    Reflect.deleteProperty(res, 'sendDate')
    res.sendDate = sendDate
  }
  if (Object.hasOwn(req, 'complete') && !own.has(Object.getPrototypeOf(req))) {
    const { complete } = req
    Reflect.deleteProperty(req, 'complete')
    req.complete = complete
  }
}
