import type { RequestHandler, Router } from 'express'
import type { Resource } from '../../types/resource.js'
import { serve } from '../handle.js'
import { type NestedPlace, nestedReply } from '../nested/handler.js'
import { HostCall } from './call.js'
import { asksForFile, type Format, formatNames } from './formats.js'
import type { Answerer } from './handlers.js'
import { inOrder } from './inOrder.js'
import { expressJson } from './jsonHost.js'
import { Answer } from './respond.js'
import { unreadable } from './unreadable.js'

/** Adds the routes of relations below each record. Their methods are decided per request. */
export function addNested(
  router: Router,
  base: string,
  resource: Resource,
  { first, formats }: { readonly first: readonly RequestHandler[]; readonly formats: readonly Format[] },
): void {
  const before = first.length > 0 ? [inOrder(first)] : []
  const add = (at: string | RegExp, handlers: readonly RequestHandler[]): void => {
    const route = router.route(at)
    for (const handler of handlers) route.all(handler)
  }
  for (const { json, items } of resource.nested) {
    for (const item of items ? [false, true] : [false]) {
      const path = `${base}${resource.behaviours.ownKey === null ? '/:id' : ''}/${json}${item ? '/:key' : ''}`
      const handler = handlerOf({ resource, relation: json, item }, formats)
      const broken = unreadable(path)
      if (broken !== null) add(broken.pattern, [broken.handler, ...before, handler])
      add(path, [...before, handler])
    }
  }
}

/** Methods that change nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

/** Handles calls of all methods below a relation of a record. */
export function nestedAnswerer(place: NestedPlace, formats: readonly Format[]): Answerer {
  const { resource, relation } = place
  return (call, outlet) =>
    serve({ resource, relation, operation: null, isRead: READS.has(call.method) }, call, outlet, (watched) =>
      nestedReply(place, call, { isFile: () => asksForFile(formats, call), watched }),
    )
}

function handlerOf(place: NestedPlace, formats: readonly Format[]): RequestHandler {
  const names = formatNames(formats)
  const how = { onError: place.resource.onError, formats }
  const answer = nestedAnswerer(place, formats)
  return (req, res) => {
    const call = new HostCall(req, res, names)
    return answer(call, new Answer(call, res, expressJson, how))
  }
}
