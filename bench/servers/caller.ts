import type { RequestHandler } from 'express'

const claims = Object.freeze({ sub: 'ada', tenant: 7 })

/** The host's own authentication, which both sides have: everybody is the same caller. */
export const caller: RequestHandler = (req, _res, next) => {
  Object.assign(req, { auth: claims })
  next()
}
