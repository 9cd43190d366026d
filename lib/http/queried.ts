import type { RequestHandler } from 'express'
import type { Resource } from '../../types/resource.js'
import { entriesOf, type OperationTable } from '../operations.js'
import { ACCEPT_QUERY, type BodyParsers, isQuery, readQuery, TAKES_QUERY } from '../parse/queried.js'
import type { Handlers } from './calls.js'
import { respondError } from './respond.js'

/**
 * The handlers, of which those that QUERY asks for read its body before anything else: it says which of several operations the
 * request is for, and so whose policy decides.
 */
export function queriedHandlers(
  resource: Resource,
  table: OperationTable,
  handlers: Handlers,
  parsers: BodyParsers,
): Handlers {
  if (!TAKES_QUERY) return handlers
  const queried = entriesOf(table).filter(([name, row]) => row.queried && resource.operations.has(name))
  const made = queried.map(([name]) => [name, queriedHandler(resource, handlers[name], parsers)])
  return { ...handlers, ...Object.fromEntries(made) }
}

function queriedHandler(resource: Resource, handler: RequestHandler, parsers: BodyParsers): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Accept-Query', ACCEPT_QUERY)
    if (!isQuery(req)) return handler(req, res, next)
    readQuery(resource, parsers, req, res).then(
      () => handler(req, res, next),
      (error: unknown) => respondError(req, res, error, resource.onError),
    )
  }
}
