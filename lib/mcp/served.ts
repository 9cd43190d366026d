import type { IdentityFunction } from '../../types/identity.js'
import type { Intent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { problem } from '../common/problem.js'
import { perGeneration, resourceOf } from '../compile/mounted.js'
import { carried } from '../compile/speaker.js'
import { firstOf } from '../http/calls.js'
import { callerOf, identityFromRequest } from '../identity/identity.js'
import { assertDescribable, type Described, described } from '../openapi/crud.js'
import type { McpOptions } from './crudMcp.js'

/** A resource as tools reach it. */
export interface Served {
  readonly name: string
  readonly resource: Resource
  /** Who sends a request. */
  readonly asks: IdentityFunction
  /** The same; it refuses nobody where no policy would. */
  readonly identify: IdentityFunction
  /** What is made of what was read: as few records, and nothing that would be lost. */
  readonly within: (intent: Intent) => Intent
  /** What documents say of it. */
  readonly described: () => Described
}

/** The resources by the names that tools know them by. @throws CrudConfigError for what is none, and for one name of two */
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

export function wrong(message: string): CrudConfigError {
  return new CrudConfigError('INVALID_OPTION', `crudMcp: ${message}`)
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
  // What no document can have a name for is told now, and not to the first who asks.
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

/** The function of the resource itself, else the one given, else what the host's own middleware found. */
function askedBy({ identity: own }: Resource, given: McpOptions['identity'] | undefined): IdentityFunction {
  if (typeof given === 'object') return () => given
  if (own !== null && own !== identityFromRequest) return own
  return given ?? identityFromRequest
}

/** Where no policy decides, HTTP is open because the host has put it where it is; agents have to be somebody. */
function known({ documented }: Resource, identify: IdentityFunction): IdentityFunction {
  if (documented.policies.size > 0) return identify
  return async (request) => {
    const identity = await callerOf(identify, request)
    if (identity !== null) return identity
    throw problem('unauthorized', { detail: 'Say who you are.', headers: { 'WWW-Authenticate': 'Bearer' } })
  }
}

/** As few records of collections as there may be of the resource's own, and no values that would go nowhere. */
function within(intent: Intent, embedTotal: number): Intent {
  if (intent.kind === 'list' || intent.kind === 'get' || intent.kind === 'action') return { ...intent, embedTotal }
  return intent.kind === 'create' || intent.kind === 'update' ? { ...intent, unknown: 'reject' } : intent
}
