import type { RequestHandler } from 'express'

const claims = Object.freeze({ sub: 'ada', tenant: 7 })

/** Authentication by the host. It is equal on both compared servers: every request has one caller. */
export const caller: RequestHandler = (req, _res, next) => {
  Object.assign(req, { auth: claims })
  next()
}
