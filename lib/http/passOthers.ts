import type { NextFunction, Request, RequestHandler, Response, Router } from 'express'

/**
 * Has a router of this package pass on requests for other paths at once: Express would try each of its routes, and leave the router by a
 * `setImmediate`. A router to which the host adds something afterwards sees every request.
 */
export function passOthers(router: Router, base: string): void {
  const [prefix = ''] = base.split('/:')
  const handle: unknown = Reflect.get(router, 'handle')
  if (prefix === '' || !isHandler(handle)) return
  const own = router.stack.length
  Object.assign(router, {
    handle(req: Request, res: Response, next: NextFunction): unknown {
      const isAsked = router.stack.length > own || isBelow(req.path, prefix)
      return isAsked ? handle.call(router, req, res, next) : next()
    },
  })
}

function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function'
}

/** Whether a path is a prefix or below it, in any case, as Express matches by default. */
function isBelow(path: string, prefix: string): boolean {
  const { length } = prefix
  if (path.length > length && path[length] !== '/') return false
  const head = path.slice(0, length)
  return head === prefix || head.toLowerCase() === prefix.toLowerCase()
}
