import type { IdentityFunction } from '../../types/identity.js'
import type { Intent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { perGeneration, resourceOf } from '../compile/mounted.js'
import { carried } from '../compile/speaker.js'
import { firstOf } from '../http/calls.js'
import { callerOf, identityFromRequest } from '../identity/identity.js'
import { assertDescribable, type Described, described } from '../openapi/crud.js'
import { unauthorized } from './gate.js'
import { type McpOptions, wrong } from './options.js'

/** A resource and the name that tools use for it. */
export interface Served {
  readonly name: string
  readonly resource: Resource
  /** Identifies the sender of an HTTP request. */
  readonly asks: IdentityFunction
  /** Identifies the caller of a tool. It rejects anonymous callers if the resource has no policy. */
  readonly identify: IdentityFunction
  /** Limits a parsed request: collections have at most `maxRecords` records, and unknown body members are rejected. */
  readonly within: (intent: Intent) => Intent
  /** Description of the resource, from the API documents. */
  readonly described: () => Described
}

/**
 * Resources by the names that tools use. @throws CrudConfigError for a value without a resource, and for a duplicate
 * name
 */
export function servedOf({ resources, identity, maxRecords = 100 }: McpOptions): ReadonlyMap<string, Served> {
  if (!Array.isArray(resources) || resources.length === 0) {
    throw wrong('resources must be an array of routers or controllers.')
  }
  const served = new Map<string, Served>()
  for (const [index, given] of resources.entries()) {
    const each = oneOf(given, `resources[${index}]`, { identity, maxRecords })
    if (served.has(each.name)) {
      throw wrong(`two resources are named "${each.name}": name one of them differently with { resource, name }.`)
    }
    served.set(each.name, each)
  }
  return served
}

function oneOf(
  given: unknown,
  where: string,
  { identity, maxRecords }: { readonly identity: McpOptions['identity'] | undefined; readonly maxRecords: number },
): Served {
  const plain = resourceOf(given) ?? resourceOf(carried(given))
  const resource = plain ?? resourceOf(carried(carried(given)))
  if (resource === null)
    throw wrong(`${where} must be a router, a controller, or an object { resource, name } with one.`)
  const name = plain === null ? nameIn(given, where) : null
  // A resource that cannot be described throws here, not at the first request.
  assertDescribable(resource)
  firstOf(resource)
  const asks = askedBy(resource, identity)
  return {
    name: name ?? wordOf(resource),
    resource,
    asks,
    identify: known(resource, asks),
    within: (intent) => within(intent, maxRecords),
    described: perGeneration(() => described(resource)),
  }
}

function nameIn(given: unknown, where: string): string | null {
  const { name = null } = given as { readonly name?: unknown }
  if (name === null || (typeof name === 'string' && /^[A-Za-z0-9._-]+$/.test(name))) return name
  throw wrong(`${where}.name must consist of letters, digits and the characters . _ -`)
}

/** The last segment of the resource's path, for example `players`. */
function wordOf({ route, names }: Resource): string {
  return route.split('/').at(-1) || names.response
}

/**
 * The resource's own identity function, else the one of the options, else the identity that the host's middleware set.
 */
function askedBy({ identity: own }: Resource, given: McpOptions['identity'] | undefined): IdentityFunction {
  if (typeof given === 'object') return () => given
  if (own !== null && own !== identityFromRequest) return own
  return given ?? identityFromRequest
}

/** Without a policy the HTTP routes are as open as the host mounts them. Agents need an identity. */
function known({ documented }: Resource, identify: IdentityFunction): IdentityFunction {
  if (documented.policies.size > 0) return identify
  return async (request) => {
    const identity = await callerOf(identify, request)
    if (identity !== null) return identity
    throw unauthorized()
  }
}

/**
 * Limits collections to `embedTotal` records, counts the total for the first page only, and rejects unknown body
 * members.
 */
function within(intent: Intent, embedTotal: number): Intent {
  if (intent.kind === 'list') return { ...intent, embedTotal, isCounted: intent.total === 'exact' }
  if (intent.kind === 'get' || intent.kind === 'action') return { ...intent, embedTotal }
  return intent.kind === 'create' || intent.kind === 'update' ? { ...intent, unknown: 'reject' } : intent
}
