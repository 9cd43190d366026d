import { jwtIdentity } from './identity.js'
import { allOf, anyOf, hasPermission, hasRole, not } from './policies.js'

/** Functions that return policies or identity functions, each with an example call. */
const FACTORIES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [hasRole, "hasRole returns a policy. Write hasRole('admin')"],
  [hasPermission, "hasPermission returns a policy. Write hasPermission('payroll')"],
  [anyOf, 'anyOf returns a policy. Write anyOf(policy, other)'],
  [allOf, 'allOf returns a policy. Write allOf(policy, other)'],
  [not, 'not returns a policy. Write not(policy)'],
  [jwtIdentity, 'jwtIdentity returns an identity function. Write jwtIdentity({ key, algorithms })'],
])

/**
 * Returns the correct call if the host passed a factory without calling it, which would fail every request. Null for
 * other functions.
 */
export function suggestCall(given: unknown): string | null {
  return FACTORIES.get(given) ?? null
}
