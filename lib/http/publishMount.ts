import type { Resource } from '../../types/resource.js'
import type { MountedRoute, MountMessage } from '../../types/trace.js'
import { admittingOperationOf } from '../common/pushReads.js'
import { mount } from '../compile/mounted.js'
import { MOUNTS } from '../trace/channels.js'
import { pathsOf } from './paths.js'

/**
 * Mounts a resource, and publishes its routes on the mount channel. Each route lists those of its operations that no policy
 * covers.
 */
export function mountAndPublish(by: MountMessage['by'], resource: Resource): void {
  mount(resource)
  if (!MOUNTS.hasSubscribers) return
  const message: MountMessage = {
    kind: 'mount',
    by,
    resource,
    routes: describeRoutes(resource),
    nested: describeNestedRoutes(resource),
    hubOpen: resource.hub !== null && !resource.documented.policies.has(admittingOperationOf(resource)),
  }
  MOUNTS.publish(message)
}

function basePathOf({ route }: Resource): string {
  return route === '/' ? '' : route
}

function describeRoutes(resource: Resource): readonly MountedRoute[] {
  const { policies, actionsWithPolicy } = resource.documented
  return pathsOf(resource).flatMap(({ path, operations, action, methods }) =>
    methods.map((method): MountedRoute => {
      const own = operations.filter(([, row]) => row.method === method || (method === 'query' && row.queried === true))
      const open = own.flatMap(([name]) => (policies.has(name) ? [] : [name]))
      const isOpen = action !== undefined && !actionsWithPolicy.has(action.name)
      return {
        method: method.toUpperCase(),
        path: path === '/' ? resource.route : basePathOf(resource) + path,
        operations: own.map(([name]) => name),
        action: action?.name ?? null,
        open: isOpen ? [action.name] : open,
      }
    }),
  )
}

function describeNestedRoutes(resource: Resource): readonly string[] {
  const record = resource.behaviours.ownKey === null ? '/:id' : ''
  return resource.nested.map(({ json }) => `${basePathOf(resource)}${record}/${json}`)
}
