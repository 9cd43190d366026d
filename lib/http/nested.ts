import type { RequestHandler, Router } from 'express'
import type { Resource } from '../../types/resource.js'
import { inOrder } from '../common/inOrder.js'
import { unreadable } from '../common/unreadable.js'
import { type NestedServed, nestedHandlerOf } from '../nested/handler.js'

/** Adds the routes of relations, below those of each record. What they answer to which method is known with the request. */
export function addNested(
  router: Router,
  base: string,
  resource: Resource,
  { first, served }: { readonly first: readonly RequestHandler[]; readonly served: NestedServed },
): void {
  const before = first.length > 0 ? [inOrder(first)] : []
  const add = (at: string | RegExp, handlers: readonly RequestHandler[]): void => {
    const route = router.route(at)
    for (const handler of handlers) route.all(handler)
  }
  for (const { json, items } of resource.nested) {
    for (const item of items ? [false, true] : [false]) {
      const path = `${base}/:id/${json}${item ? '/:key' : ''}`
      const handler = nestedHandlerOf(resource, json, item, served)
      const broken = unreadable(path)
      if (broken !== null) add(broken.pattern, [broken.handler, ...before, handler])
      add(path, [...before, handler])
    }
  }
}
