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

/** A resource as tools reach it. */
export interface Served {
  readonly name: string
  readonly resource: Resource
  /** Identifies the sender of a request. */
  readonly asks: IdentityFunction
  /** Identifies the caller of a tool. It refuses anonymous callers if the resource has no policy. */
  readonly identify: IdentityFunction
  /** Bounds a parsed request: few records of collections, and no unknown members. */
  readonly within: (intent: Intent) => Intent
  /** The description of the resource, as documents have it. */
  readonly described: () => Described
}

/** The resources by the names that tools know them by. @throws CrudConfigError for other values, and for two resources of one name */
export function servedOf({ resources, identity, maxRecords = 100 }: McpOptions): ReadonlyMap<string, Served> {
  if (!Array.isArray(resources) || resources.length === 0) {
    throw wrong('resources must be an array of routers or controllers.')
  }
  const served = new Map<string, Served>()
  for (const [index, given] of resources.entries()) {
    const each = oneOf(given, `resources[${index}]`, { identity, maxRecords })
    if (served.has(each.name)) {
      throw wrong(`two resources are named "${each.name}": give one of them another name, { resource, name }.`)
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
  // A resource that documents cannot name is an error at mount, not at the first request.
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
  throw wrong(`${where}.name must be of letters, digits and . _ -.`)
}

/** The last word of its path: `players`. */
function wordOf({ route, names }: Resource): string {
  return route.split('/').at(-1) || names.response
}

/** The function of the resource itself, else the given one, else the identity that the host's middleware has found. */
function askedBy({ identity: own }: Resource, given: McpOptions['identity'] | undefined): IdentityFunction {
  if (typeof given === 'object') return () => given
  if (own !== null && own !== identityFromRequest) return own
  return given ?? identityFromRequest
}

/** Without a policy, HTTP is as open as the host has mounted it. Agents need an identity then. */
function known({ documented }: Resource, identify: IdentityFunction): IdentityFunction {
  if (documented.policies.size > 0) return identify
  return async (request) => {
    const identity = await callerOf(identify, request)
    if (identity !== null) return identity
    throw unauthorized()
  }
}

/** Collections have as few records as the answer itself, a first page has the total, and unknown members of bodies are refused. */
function within(intent: Intent, embedTotal: number): Intent {
  if (intent.kind === 'list') return { ...intent, embedTotal, isCounted: intent.total === 'exact' }
  if (intent.kind === 'get' || intent.kind === 'action') return { ...intent, embedTotal }
  return intent.kind === 'create' || intent.kind === 'update' ? { ...intent, unknown: 'reject' } : intent
}
