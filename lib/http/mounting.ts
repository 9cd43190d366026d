import type { Resource } from '../../types/resource.js'
import type { MountedRoute, MountMessage } from '../../types/watch.js'
import { mount } from '../compile/mounted.js'
import { MOUNTS } from '../watch/channels.js'
import { pathsOf } from './paths.js'

/** Mounts a resource, and publishes its routes on the channel, with the routes that no policy covers. */
export function mountBy(by: MountMessage['by'], resource: Resource): void {
  mount(resource)
  if (!MOUNTS.hasSubscribers) return
  const message: MountMessage = { kind: 'mount', by, resource, routes: routesOf(resource), nested: nestedOf(resource) }
  MOUNTS.publish(message)
}

function baseOf({ route }: Resource): string {
  return route === '/' ? '' : route
}

function routesOf(resource: Resource): readonly MountedRoute[] {
  const { policies, guarded } = resource.documented
  return pathsOf(resource).flatMap(({ path, operations, action, methods }) =>
    methods.map((method): MountedRoute => {
      const own = operations.filter(([, row]) => row.method === method || (method === 'query' && row.queried === true))
      const open = own.flatMap(([name]) => (policies.has(name) ? [] : [name]))
      const isOpen = action !== undefined && !guarded.has(action.name)
      return {
        method: method.toUpperCase(),
        path: path === '/' ? resource.route : baseOf(resource) + path,
        operations: own.map(([name]) => name),
        action: action?.name ?? null,
        open: isOpen ? [action.name] : open,
      }
    }),
  )
}

function nestedOf(resource: Resource): readonly string[] {
  const record = resource.behaviours.ownKey === null ? '/:id' : ''
  return resource.nested.map(({ json }) => `${baseOf(resource)}${record}/${json}`)
}
