import type { MountedRoute, MountMessage } from '../../types/trace.js'

export interface Report {
  readonly text: string
  /** Number of routes with an operation that no policy covers. */
  readonly openCount: number
}

/** A text table of all routes. */
export function createReport(mounts: readonly MountMessage[]): Report {
  const routes = mounts.flatMap((mount) => mount.routes)
  const widest = Math.max(...routes.map(({ path }) => path.length))
  const parts = mounts.map((mount) => reportResource(mount, widest))
  const open = routes.filter((route) => route.open.length > 0).length
  const sum = `${countText(mounts.length, 'resource')}, ${countText(routes.length, 'route')}, ${open} without a policy.`
  const remedy =
    open === 0
      ? []
      : [
          'Every caller that your middleware admits may use the OPEN routes. Set policies, such as authorizePolicy. The option requirePolicies: true refuses to mount OPEN routes.',
        ]
  return { text: [...parts, [sum, ...remedy].join('\n')].join('\n\n'), openCount: open }
}

function reportResource({ by, resource, routes, nested }: MountMessage, width: number): string {
  const { name, hub } = resource
  const others = by === 'crudController' ? ' (handlers: your code sets the paths)' : ''
  return [
    `${name}${others}`,
    ...routes.map((route) => reportRoute(route, width)),
    ...nested.map((path) => `  *       ${path.padEnd(width)}  policies of both records`),
    ...(hub === null ? [] : [`  socket  ${hub.name.padEnd(width)}  ${describePushPolicy(routes)}`]),
  ].join('\n')
}

function reportRoute({ method, path, operations, action, open }: MountedRoute, width: number): string {
  const all = action === null ? operations : [action]
  const guard = open.length === 0 ? 'policy' : open.length === all.length ? 'OPEN' : `OPEN for ${open.join(', ')}`
  return `  ${method.padEnd(6)}  ${path.padEnd(width)}  ${guard}  (${all.join(', ')})`
}

/** Describes the policy of a push hub. A hub is open if GET is open, because callers of GET receive its events. */
function describePushPolicy(routes: readonly MountedRoute[]): string {
  const isOpen = routes.some(({ open }) => open.includes('getById') || open.includes('getList'))
  return isOpen ? 'OPEN, like GET' : 'policy'
}

function countText(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`
}
