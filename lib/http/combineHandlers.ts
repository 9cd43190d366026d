import type { RequestHandler } from 'express'

/**
 * Combines handlers into one, with the semantics of an Express route. `next('route')` and `next('router')` skip the
 * remaining handlers. An error skips to the next error handler, or past all handlers. A rejected promise is an error in
 * Express 4 as well.
 */
export function combineHandlers(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, done) => {
    let at = 0
    // All handlers share one index, so that calling `next` twice runs no handler twice.
    const next = (error?: unknown): void => {
      const handler = error === 'route' || error === 'router' ? undefined : handlers[at++]
      if (handler === undefined) done(error)
      else if (!isHandlerFor(handler, error)) next(error)
      else {
        try {
          const returned: unknown = error
            ? Reflect.apply(handler, undefined, [error, req, res, next])
            : handler(req, res, next)
          if (isPromise(returned)) returned.then(undefined, (reason) => next(reason || new Error('Rejected promise')))
        } catch (thrown) {
          next(thrown)
        }
      }
    }
    next()
  }
}

/**
 * Whether a handler is called in the current state: error handlers with an error, all others without one. Express
 * recognizes error handlers by their four parameters.
 */
function isHandlerFor({ length }: RequestHandler, error: unknown): boolean {
  return error ? length === 4 : length < 4
}

function isPromise(returned: unknown): returned is PromiseLike<unknown> {
  return typeof returned === 'object' && returned !== null && 'then' in returned && typeof returned.then === 'function'
}
