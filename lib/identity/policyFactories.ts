import { jwtIdentity } from './identity.js'
import { allOf, anyOf, hasPermission, hasRole, not } from './policies.js'

/** Functions that return policies or identity functions, each with an example call. */
const FACTORIES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [hasRole, "hasRole makes a policy: write hasRole('admin')"],
  [hasPermission, "hasPermission makes a policy: write hasPermission('payroll')"],
  [anyOf, 'anyOf makes a policy: write anyOf(policy, other)'],
  [allOf, 'allOf makes a policy: write allOf(policy, other)'],
  [not, 'not makes a policy: write not(policy)'],
  [jwtIdentity, 'jwtIdentity makes an identity function: write jwtIdentity({ key, algorithms })'],
])

/**
 * Returns the correct call if the host passed a factory without calling it, which would fail every request. Null for
 * other functions.
 */
export function suggestCall(given: unknown): string | null {
  return FACTORIES.get(given) ?? null
}
