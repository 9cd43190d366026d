import type { MountedRoute, MountMessage } from '../../types/trace.js'

export interface Report {
  readonly text: string
  /** Number of routes with an operation that no policy covers, and of hubs that no policy covers. */
  readonly openCount: number
}

/** A text table of all routes and hubs. */
export function createReport(mounts: readonly MountMessage[]): Report {
  const routes = mounts.flatMap((mount) => mount.routes)
  const widest = Math.max(...routes.map(({ path }) => path.length))
  const parts = mounts.map((mount) => reportResource(mount, widest))
  const hubs = mounts.filter(({ resource }) => resource.hub !== null)
  const openRoutes = routes.filter((route) => route.open.length > 0).length
  const openHubs = hubs.filter(({ hubOpen }) => hubOpen).length
  const openCount = openRoutes + openHubs
  const sums = [
    `${countText(mounts.length, 'resource')}, ${countText(routes.length, 'route')}, ${openRoutes} without a policy.`,
    ...(hubs.length === 0 ? [] : [`${countText(hubs.length, 'hub')}, ${openHubs} without a policy.`]),
  ]
  const remedy =
    openCount === 0
      ? []
      : [
          'Every caller that your middleware admits may use the OPEN routes and hubs. Set policies, such as authorizePolicy. The option requirePolicies: true refuses to mount OPEN routes.',
        ]
  return { text: [...parts, [...sums, ...remedy].join('\n')].join('\n\n'), openCount }
}

function reportResource({ by, resource, routes, nested, hubOpen }: MountMessage, width: number): string {
  const { name, hub } = resource
  const others = by === 'crudController' ? ' (handlers: your code sets the paths)' : ''
  return [
    `${name}${others}`,
    ...routes.map((route) => reportRoute(route, width)),
    ...nested.map((path) => `  *       ${path.padEnd(width)}  policies of both records`),
    ...(hub === null ? [] : [`  socket  ${hub.name.padEnd(width)}  ${hubOpen ? 'OPEN' : 'policy'}`]),
  ].join('\n')
}

function reportRoute({ method, path, operations, action, open }: MountedRoute, width: number): string {
  const all = action === null ? operations : [action]
  const guard = open.length === 0 ? 'policy' : open.length === all.length ? 'OPEN' : `OPEN for ${open.join(', ')}`
  return `  ${method.padEnd(6)}  ${path.padEnd(width)}  ${guard}  (${all.join(', ')})`
}

function countText(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`
}
