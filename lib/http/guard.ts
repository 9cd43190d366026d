import type { Request, RequestHandler } from 'express'
import type { OperationName, Resource } from '../../types/resource.js'
import { setHeaders } from './outgoing.js'
import { respondError } from './respond.js'

/** Creates a middleware that rejects unauthorized callers of an operation and calls `next` for all others. */
export function createGuard(
  resource: Resource,
  operation: OperationName,
  admitted: (resource: Resource, operation: OperationName, request: Request) => Promise<unknown>,
): RequestHandler {
  return (req, res, next) => {
    setHeaders(res, resource.behaviours.headers)
    admitted(resource, operation, req).then(
      () => next(),
      (error: unknown) => respondError(req, res, error, resource.onError),
    )
  }
}
