import type { Request } from '../../types/express.js'
import type { Caller } from '../../types/plan.js'
import type { Socket } from '../../types/push.js'
import type { FixedValues, OperationName, ResolvedScope, Resource } from '../../types/resource.js'
import { Problem, problem } from '../common/problem.js'
import { admittingOperationOf, hasWholeRecords } from '../common/pushReads.js'
import { identifyCaller } from '../identity/identity.js'
import { roomNameOf } from './room.js'
import { conditionSourcesOf, createSubscription, serializeSubscription } from './subscription.js'

/**
 * A connection before it is admitted. `auth` identifies the connection: it is one object during the whole handshake,
 * and each connection has another object.
 */
export interface ConnectionRequest {
  readonly request: Socket['request']
  readonly handshake: Pick<Socket['handshake'], 'auth'>
}

/** Result of a successful admission. */
export interface Admission {
  /** Text of the subscription that the connection belongs to. */
  readonly subscriptionText: string
  readonly room: string
  /** End of the connection in milliseconds since the epoch, or null for no end. */
  readonly endsAt: number | null
}

/**
 * Admits a connection whose caller may list the records, or get them if the resource has no `getList`.
 * @throws Problem if a policy denies access, and any error of the host's functions
 */
export async function admitConnection(resource: Resource, connection: ConnectionRequest): Promise<Admission> {
  const request = toRequest(connection)
  const identity = resource.identity === null ? null : await identifyCaller(resource.identity, request)
  const caller: Caller = { request, identity, instant: new Date() }
  const operation = admittingOperationOf(resource)
  await resource.behaviours.admit?.(resource, operation, caller)
  const within = await evaluateScope(resource, operation, caller)
  const shape = operation === 'getById' || (await canGetAllListed(resource, caller, within)) ? 'response' : 'list'
  const { subscription, values } = await createSubscription(resource, shape, caller, within)
  const text = serializeSubscription(subscription)
  const exp: unknown = identity?.claims.exp
  return { subscriptionText: text, room: roomNameOf(text, values), endsAt: typeof exp === 'number' ? exp * 1000 : null }
}

const UNRESTRICTED: ResolvedScope = Object.freeze({ fixed: [], where: null, sources: [] })

async function evaluateScope(resource: Resource, operation: OperationName, caller: Caller): Promise<ResolvedScope> {
  return (await resource.behaviours.resolveScope?.(resource, caller, operation)) ?? UNRESTRICTED
}

/** Whether `getById` would show the caller every record that the caller may list. */
async function canGetAllListed(
  resource: Resource,
  { request, identity, instant }: Caller,
  listed: ResolvedScope,
): Promise<boolean> {
  if (!hasWholeRecords(resource)) return false
  // Results of policies are cached per caller object, and the cached results are about lists.
  const caller: Caller = { request, identity, instant }
  try {
    await resource.behaviours.admit?.(resource, 'getById', caller)
    const shown = await evaluateScope(resource, 'getById', caller)
    if (shown.where !== null) return isEqualScope(shown, listed)
    return shown.fixed.every(([field, value]) =>
      listed.fixed.some((known) => known[0] === field && isEqualValue(known[1], value)),
    )
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return false
    throw error
  }
}

/** Whether two scopes have equal conditions. */
function isEqualScope(one: ResolvedScope, other: ResolvedScope): boolean {
  return JSON.stringify(conditionSourcesOf(one)) === JSON.stringify(conditionSourcesOf(other))
}

type Value = FixedValues[number][1]

function isEqualValue(one: Value, other: Value): boolean {
  return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other
}

/**
 * The handshake as a request for identity functions and policies. The request has the handshake's headers and no
 * Express members. Browsers cannot set headers, so `auth.token` becomes `Authorization: Bearer`.
 */
export function toRequest({ request, handshake }: ConnectionRequest): Request {
  const { token } = handshake.auth
  if (token === undefined || token === null) return request as Request
  if (typeof token !== 'string')
    throw problem('unauthorized', { detail: 'The member token of the option auth of the client must be a string.' })
  const headers = { ...request.headers, authorization: `Bearer ${token}` }
  return Object.create(request, { headers: { value: headers, enumerable: true } }) as Request
}

/** The error for a client whose connection is refused. The error's `data` is the problem document. */
export function toConnectionError(error: unknown): Error {
  const known = error instanceof Problem ? error : problem('internal', { detail: 'An unexpected error occurred.' })
  return Object.assign(new Error(known.title), { data: known.toJSON() })
}
