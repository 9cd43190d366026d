import type { IdentityFunction } from '../../types/identity.js'
import type { Intent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { cacheUntilMount, resourceOf } from '../compile/mounted.js'
import { resourceOfRouter } from '../compile/relatedResource.js'
import { leadingHandlersOf } from '../http/internalCall.js'
import { identifyCaller, identityFromRequest } from '../identity/identity.js'
import { assertDescribable, describeForClients, type ResourceDescription } from '../openapi/crud.js'
import { invalidOption, type McpOptions } from './options.js'
import { unauthorizedProblem } from './requestChecks.js'

/** A resource and the name that tools use for it. */
export interface ToolResource {
  readonly name: string
  readonly resource: Resource
  /** Identifies the sender of an HTTP request. */
  readonly identifySender: IdentityFunction
  /** Identifies the caller of a tool. Rejects anonymous callers if the resource has no policy. */
  readonly identify: IdentityFunction
  /**
   * Limits a parsed request. All collections together have at most `maxRecords` records, and unknown body members are
   * rejected.
   */
  readonly limitIntent: (intent: Intent) => Intent
  /** Describes the resource, as in the API documents. */
  readonly describe: () => ResourceDescription
}

/**
 * Creates the resources by the names that tools use.
 * @throws CrudConfigError for a value without a resource, and for a duplicate name
 */
export function createToolResources({
  resources,
  identity,
  maxRecords = 100,
}: McpOptions): ReadonlyMap<string, ToolResource> {
  if (!Array.isArray(resources) || resources.length === 0) {
    throw invalidOption('resources must be a non-empty array of routers or controllers.')
  }
  const served = new Map<string, ToolResource>()
  for (const [index, given] of resources.entries()) {
    const each = createToolResource(given, `resources[${index}]`, { identity, maxRecords })
    if (served.has(each.name)) {
      throw invalidOption(
        `two resources are named "${each.name}": name one of them differently with { resource, name }.`,
      )
    }
    served.set(each.name, each)
  }
  return served
}

function createToolResource(
  given: unknown,
  where: string,
  { identity, maxRecords }: { readonly identity: McpOptions['identity'] | undefined; readonly maxRecords: number },
): ToolResource {
  const plain = resourceOf(given) ?? resourceOf(resourceOfRouter(given))
  const resource = plain ?? resourceOf(resourceOfRouter(resourceOfRouter(given)))
  if (resource === null)
    throw invalidOption(`${where} must be a router, a controller, or an object { resource, name } with one.`)
  const name = plain === null ? readName(given, where) : null
  // A resource that cannot be described causes an error here, before the first request.
  assertDescribable(resource)
  leadingHandlersOf(resource)
  const caller = senderIdentityOf(resource, identity)
  return {
    name: name ?? defaultName(resource),
    resource,
    identifySender: caller,
    identify: requireIdentity(resource, caller),
    limitIntent: (intent) => limitIntent(intent, maxRecords),
    describe: cacheUntilMount(() => describeForClients(resource)),
  }
}

function readName(given: unknown, where: string): string | null {
  const { name = null } = given as { readonly name?: unknown }
  if (name === null || (typeof name === 'string' && /^[A-Za-z0-9._-]+$/.test(name))) return name
  throw invalidOption(`${where}.name must consist of letters, digits and the characters . _ -`)
}

/** Default name of a resource: the last segment of its path, for example `players`. */
function defaultName({ route, names }: Resource): string {
  return route.split('/').at(-1) || names.response
}

/**
 * Identity function for senders of HTTP requests: the resource's own function, otherwise the one from the options.
 * Without both, the identity comes from the host's middleware.
 */
function senderIdentityOf({ identity: own }: Resource, given: McpOptions['identity'] | undefined): IdentityFunction {
  if (typeof given === 'object') return () => given
  if (own !== null && own !== identityFromRequest) return own
  return given ?? identityFromRequest
}

/**
 * Requires an identity for resources without a policy. HTTP routes of such resources may be open, but tools are not.
 */
function requireIdentity({ documented }: Resource, identify: IdentityFunction): IdentityFunction {
  if (documented.policies.size > 0) return identify
  return async (request) => {
    const identity = await identifyCaller(identify, request)
    if (identity !== null) return identity
    throw unauthorizedProblem()
  }
}

/**
 * Limits collections to `embedTotal` records, counts the total only for the first page, and rejects unknown body
 * members.
 */
function limitIntent(intent: Intent, embedTotal: number): Intent {
  if (intent.kind === 'list') return { ...intent, embedTotal, isCounted: intent.total === 'exact' }
  if (intent.kind === 'get' || intent.kind === 'action') return { ...intent, embedTotal }
  return intent.kind === 'create' || intent.kind === 'update' ? { ...intent, unknownNames: 'reject' } : intent
}
