import type { Request, RequestHandler } from 'express'
import type { OperationName, Resource } from '../../types/resource.js'
import { setHeaders } from './outgoing.js'
import { respondError } from './respond.js'

/** A middleware that answers those whom an operation refuses, and calls `next` for the others. */
export function guardOf(
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
