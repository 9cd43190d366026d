import type { RequestHandler } from 'express'

/**
 * Handlers as one, in the order and by the signals of an Express route: `next('route')` and `next('router')` leave them,
 * errors go past them to error handlers among them, and from there to whoever comes next. What a promise rejects with is
 * an error in Express 4 as well, which by itself would let the request hang.
 */
export function inOrder(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, done) => {
    let at = 0
    // One place for all of them, so that a handler which calls it twice has nothing run twice.
    const next = (error?: unknown): void => {
      const handler = error === 'route' || error === 'router' ? undefined : handlers[at++]
      if (handler === undefined) done(error)
      else if (!takes(handler, error)) next(error)
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

/** Express tells them apart by their parameters: those of an error handler are four. */
function takes({ length }: RequestHandler, error: unknown): boolean {
  return error ? length === 4 : length < 4
}

function isPromise(returned: unknown): returned is PromiseLike<unknown> {
  return typeof returned === 'object' && returned !== null && 'then' in returned && typeof returned.then === 'function'
}
