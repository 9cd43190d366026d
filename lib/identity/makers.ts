import { jwtIdentity } from './identity.js'
import { allOf, anyOf, hasPermission, hasRole, not } from './policies.js'

/** The functions that make policies and identity functions, and how they are called. */
const MAKERS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [hasRole, "hasRole makes a policy: write hasRole('admin')"],
  [hasPermission, "hasPermission makes a policy: write hasPermission('payroll')"],
  [anyOf, 'anyOf makes a policy: write anyOf(policy, other)'],
  [allOf, 'allOf makes a policy: write allOf(policy, other)'],
  [not, 'not makes a policy: write not(policy)'],
  [jwtIdentity, 'jwtIdentity makes an identity function: write jwtIdentity({ key, algorithms })'],
])

/** What to write for a function that was to be called first, which every request would fail by; null for any other. */
export function uncalled(given: unknown): string | null {
  return MAKERS.get(given) ?? null
}
