import type { PolicyContext } from '../../types/identity.js'
import type { Caller } from '../../types/plan.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { CallerCache } from '../common/callerCache.js'
import { getOrCreate } from '../common/getOrCreate.js'

/** The arguments for a call of a policy or scope function. `action` is the name of the action that the request calls. */
export type Question = readonly [resource: Resource, operation: OperationName, caller: Caller, action?: string]

/** Returns the argument of policies and scope functions. */
export function contextOf(...[resource, operation, { request, identity }, action]: Question): PolicyContext {
  const context = { request, identity, operation, resource }
  return action === undefined ? context : { ...context, action }
}

/** Evaluates a function of the host once per request and operation, for all hooks. */
export function evaluateOncePerCaller<T>(
  evaluate: (...question: Question) => Promise<T>,
): (...question: Question) => Promise<T> {
  const known = new CallerCache<Promise<T>>()
  return (...question) => getOrCreate(known, question[2], () => evaluate(...question))
}
