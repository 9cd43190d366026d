import type { NextFunction, Request, RequestHandler, Response, Router } from 'express'

/**
 * Makes a router of this package skip requests for other paths at once. Express would try each route and leave the
 * router with `setImmediate`. If the host later adds routes to the router, the router handles every request.
 */
export function skipOtherPaths(router: Router, base: string): void {
  const [prefix = ''] = base.split('/:')
  const handle: unknown = Reflect.get(router, 'handle')
  if (prefix === '' || !isHandler(handle)) return
  const own = router.stack.length
  Object.assign(router, {
    handle(req: Request, res: Response, next: NextFunction): unknown {
      const isInRouter = router.stack.length > own || isBelow(req.path, prefix)
      return isInRouter ? handle.call(router, req, res, next) : next()
    },
  })
}

function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function'
}

/** Whether a path equals a prefix or is below it, ignoring case like Express by default. */
function isBelow(path: string, prefix: string): boolean {
  const { length } = prefix
  if (path.length > length && path[length] !== '/') return false
  const head = path.slice(0, length)
  return head === prefix || head.toLowerCase() === prefix.toLowerCase()
}
