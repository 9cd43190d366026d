import type { Request } from '../../types/express.js'
import type { Caller } from '../../types/plan.js'
import type { Socket } from '../../types/push.js'
import type { Confinement, Fixed, OperationName, Resource } from '../../types/resource.js'
import { Problem, problem } from '../common/problem.js'
import { callerOf } from '../identity/identity.js'
import { roomOf } from './room.js'
import { conditionOf, showsWhole, subscriptionOf, textOf } from './subscription.js'

/** What is known of a connection from the first. `auth` is one object from then on, and no other connection's. */
export interface Asking {
  readonly request: Socket['request']
  readonly handshake: Pick<Socket['handshake'], 'auth'>
}

/** What a connection was let in for. */
export interface Admission {
  /** Its class, by the text of the subscription. */
  readonly text: string
  readonly room: string
  /** The instant at which it ends, in milliseconds since the epoch; null for never. */
  readonly end: number | null
}

/**
 * Lets a connection in that may list the records, or where there are no lists may get them.
 *
 * @throws Problem that says no; whatever the host's functions throw
 */
export async function admit(resource: Resource, asking: Asking): Promise<Admission> {
  const request = requestOf(asking)
  const identity = resource.identity === null ? null : await callerOf(resource.identity, request)
  const caller: Caller = { request, identity, instant: new Date() }
  const isByKeyAlone = resource.operations.has('getById') && !resource.operations.has('getList')
  const operation = isByKeyAlone ? 'getById' : 'getList'
  await resource.behaviours.admit?.(resource, operation, caller)
  const within = await confinementFor(resource, operation, caller)
  const shape = isByKeyAlone || (await shows(resource, caller, within)) ? 'response' : 'list'
  const { subscription, values } = await subscriptionOf(resource, shape, caller, within)
  const text = textOf(subscription)
  const exp: unknown = identity?.claims.exp
  return { text, room: roomOf(text, values), end: typeof exp === 'number' ? exp * 1000 : null }
}

const ALL: Confinement = Object.freeze({ fixed: [], where: null, sources: [] })

async function confinementFor(resource: Resource, operation: OperationName, caller: Caller): Promise<Confinement> {
  return (await resource.behaviours.confine?.(resource, caller, operation)) ?? ALL
}

/** Whether a GET by the key would show a caller every record that he may list. */
async function shows(
  resource: Resource,
  { request, identity, instant }: Caller,
  listed: Confinement,
): Promise<boolean> {
  if (!showsWhole(resource)) return false
  // Another caller to those who remember what they have answered: it was about lists.
  const caller: Caller = { request, identity, instant }
  try {
    await resource.behaviours.admit?.(resource, 'getById', caller)
    const shown = await confinementFor(resource, 'getById', caller)
    if (shown.where !== null) return isEqual(shown, listed)
    return shown.fixed.every(([field, value]) =>
      listed.fixed.some((known) => known[0] === field && isSame(known[1], value)),
    )
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return false
    throw error
  }
}

/** Whether two scopes with conditions are the same. */
function isEqual(one: Confinement, other: Confinement): boolean {
  return JSON.stringify(conditionOf(one)) === JSON.stringify(conditionOf(other))
}

type Value = Fixed[number][1]

function isSame(one: Value, other: Value): boolean {
  return one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other
}

/**
 * The handshake as the request that identity functions and policies know: its headers, and the token that browsers can
 * only send as `auth.token`. It has none of Express's own members.
 */
export function requestOf({ request, handshake }: Asking): Request {
  const { token } = handshake.auth
  if (token === undefined || token === null) return request as Request
  if (typeof token !== 'string') throw problem('unauthorized', { detail: 'auth.token must be a string.' })
  const headers = { ...request.headers, authorization: `Bearer ${token}` }
  return Object.create(request, { headers: { value: headers, enumerable: true } }) as Request
}

/** An error that Socket.IO sends to a client whom it does not connect: the problem is its `data`. */
export function refusalOf(error: unknown): Error {
  const known = error instanceof Problem ? error : problem('internal', { detail: 'An unexpected error occurred.' })
  return Object.assign(new Error(known.title), { data: known.toJSON() })
}
