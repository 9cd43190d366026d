import type { Policy } from '../../types/identity.js'
import { CrudConfigError } from '../common/errors.js'

/** Admits whoever is not anonymous. @throws CrudConfigError where it is called as those that make policies are */
export const authenticated: Policy = (context) => {
  if (context !== undefined) return context.identity !== null
  throw new CrudConfigError(
    'INVALID_OPTION',
    'authenticated is a policy: write it without parentheses, authorizePolicy: authenticated.',
  )
}

/** Admits callers with a role of that name. */
export function hasRole(role: string): Policy {
  assertName('hasRole', role)
  return ({ identity }) => identity?.roles.has(role) === true
}

/** Admits callers with a permission of that name. A role of the name does not count. */
export function hasPermission(permission: string): Policy {
  assertName('hasPermission', permission)
  return ({ identity }) => identity?.permissions.has(permission) === true
}

/** Admits whom at least one of the policies admits; they are asked in order until one does. */
export function anyOf(...policies: readonly Policy[]): Policy {
  assertPolicies('anyOf', policies)
  return async (context) => {
    for (const policy of policies) if ((await policy(context)) === true) return true
    return false
  }
}

/** Admits whom all of the policies admit; they are asked in order until one does not. */
export function allOf(...policies: readonly Policy[]): Policy {
  assertPolicies('allOf', policies)
  return async (context) => {
    for (const policy of policies) if ((await policy(context)) !== true) return false
    return true
  }
}

/** Admits whom the policy denies. A policy that gives neither true nor false admits nobody, turned round or not. */
export function not(policy: Policy): Policy {
  assertPolicies('not', [policy])
  return async (context) => (await policy(context)) === false
}

function assertName(where: string, name: string): void {
  if (typeof name !== 'string' || name === '') throw new TypeError(`${where}: the name must be a non-empty string`)
}

function assertPolicies(where: string, policies: readonly Policy[]): void {
  if (policies.length > 0 && policies.every((policy) => typeof policy === 'function')) return
  throw new TypeError(`${where}: at least one policy is needed, and policies are functions`)
}
