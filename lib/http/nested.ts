import type { RequestHandler, Router } from 'express'
import type { Resource } from '../../types/resource.js'
import { serve } from '../handle.js'
import { handleNested, type NestedPath } from '../nested/handler.js'
import { combineHandlers } from './combineHandlers.js'
import { type Format, isFileRequested } from './formats.js'
import { type CallHandler, toRequestHandler } from './handlers.js'
import { createMalformedPathHandler } from './malformedPath.js'

/**
 * Adds the routes of relations below each record. Each route accepts every method, and the handler decides which
 * methods are allowed. The relation's resource, which determines the methods, may be mounted later.
 */
export function addNestedRoutes(
  router: Router,
  base: string,
  resource: Resource,
  { first, formats }: { readonly first: readonly RequestHandler[]; readonly formats: readonly Format[] },
): void {
  const before = first.length > 0 ? [combineHandlers(first)] : []
  const addRoute = (at: string | RegExp, handlers: readonly RequestHandler[]): void => {
    const route = router.route(at)
    for (const handler of handlers) route.all(handler)
  }
  for (const { json, items } of resource.nested) {
    for (const item of items ? [false, true] : [false]) {
      const path = `${base}${resource.behaviours.ownKey === null ? '/:id' : ''}/${json}${item ? '/:key' : ''}`
      const answer = createNestedCallHandler({ resource, relation: json, isItem: item }, formats)
      const handler = toRequestHandler(resource, formats, answer)
      const broken = createMalformedPathHandler(path)
      if (broken !== null) addRoute(broken.pattern, [broken.handler, ...before, handler])
      addRoute(path, [...before, handler])
    }
  }
}

/** The methods that change nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

/** Handles calls of all methods below a relation of a record. */
export function createNestedCallHandler(place: NestedPath, formats: readonly Format[]): CallHandler {
  const { resource, relation } = place
  return (call, response) =>
    serve({ resource, relation, operation: null, isRead: READS.has(call.method) }, call, response, (trace) =>
      handleNested(place, call, { isFile: () => isFileRequested(formats, call), trace }),
    )
}
