import type { Request } from 'express'
import type { Caller } from '../../types/plan.js'
import type { Socket } from '../../types/push.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { Problem, problem } from '../common/problem.js'
import { callerOf } from '../identity/identity.js'
import { roomOf } from './room.js'
import { subscriptionOf, textOf } from './subscription.js'

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
  await resource.behaviours.admit?.(resource, isByKeyAlone ? 'getById' : 'getList', caller)
  const shape = (await admits(resource, 'getById', caller)) ? 'response' : 'list'
  const { subscription, values } = await subscriptionOf(resource, shape, caller)
  const text = textOf(subscription)
  const exp: unknown = identity?.claims.exp
  return { text, room: roomOf(text, values), end: typeof exp === 'number' ? exp * 1000 : null }
}

async function admits(resource: Resource, operation: OperationName, caller: Caller): Promise<boolean> {
  try {
    await resource.behaviours.admit?.(resource, operation, caller)
    return true
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return false
    throw error
  }
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
