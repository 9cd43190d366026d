import type { Policy } from '../../types/identity.js'
import { CrudConfigError } from '../common/errors.js'
import { ignoreRejections, isTrue } from '../common/promise.js'

/**
 * Allows callers that are not anonymous.
 *
 * @throws CrudConfigError if it is called without a context, like a function that returns policies
 */
export const authenticated: Policy = (context) => {
  if (context !== undefined) return context.identity !== null
  throw new CrudConfigError(
    'INVALID_OPTION',
    'authenticated must not be called. Write it without parentheses: authorizePolicy: authenticated.',
  )
}

/** Allows callers with the role. */
export function hasRole(role: string): Policy
export function hasRole(role: string, other?: unknown): Policy {
  assertName('hasRole', role, other)
  return ({ identity }) => isTrue(identity?.roles.has(role))
}

/** Allows callers with the permission. A role of that name does not count. */
export function hasPermission(permission: string): Policy
export function hasPermission(permission: string, other?: unknown): Policy {
  assertName('hasPermission', permission, other)
  return ({ identity }) => isTrue(identity?.permissions.has(permission))
}

/** Allows callers that at least one policy allows. Policies are evaluated in order until one of them allows. */
export function anyOf(...policies: readonly Policy[]): Policy {
  assertPolicies('anyOf', policies)
  return async (context) => {
    for (const policy of policies) if (isTrue(await policy(context))) return true
    return false
  }
}

/** Allows callers that all policies allow. Policies are evaluated in order until one of them denies. */
export function allOf(...policies: readonly Policy[]): Policy {
  assertPolicies('allOf', policies)
  return async (context) => {
    for (const policy of policies) if (!isTrue(await policy(context))) return false
    return true
  }
}

/**
 * Allows callers that the policy denies. If the policy returns neither true nor false, the policy and its negation both
 * deny.
 */
export function not(policy: Policy): Policy
export function not(policy: Policy, other?: unknown): Policy {
  assertPolicies('not', [policy])
  // Without this error, JavaScript would ignore the other policy and admit its callers.
  if (typeof other === 'function')
    throw new TypeError('not: only one policy is allowed. For several policies write not(anyOf(policy, other))')
  return async (context) => {
    const answer: unknown = await policy(context)
    ignoreRejections(answer)
    return answer === false
  }
}

/** Checks the arguments of a policy by name. `names.map(hasRole)` passes numbers as the second argument. */
function assertName(where: string, name: string, other: unknown): void {
  if (Array.isArray(name) || typeof other === 'string')
    throw new TypeError(
      `${where}: only one name is allowed. For several names write anyOf(${where}('one'), ${where}('other'))`,
    )
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`${where}: the first argument must be a non-empty string`)
}

function assertPolicies(where: string, policies: readonly Policy[]): void {
  if (policies.length > 0 && policies.every((policy) => typeof policy === 'function')) return
  throw new TypeError(`${where}: every argument must be a policy function, and at least one is required`)
}
