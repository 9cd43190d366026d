import jsonwebtoken, { type SignOptions } from 'jsonwebtoken'
import { type IdentityFunction, jwtIdentity } from '../../lib/index.js'

export const SECRET = 'known to these tests alone, and long enough for HS256'

/** Identity from signed tokens. */
export const identity: IdentityFunction = jwtIdentity({ key: SECRET, algorithms: ['HS256'] })

/** Headers of a caller with a token of these claims. */
export function bearer(claims: object = {}, options: SignOptions = {}): Record<string, string> {
  const token = jsonwebtoken.sign(claims, SECRET, { algorithm: 'HS256', noTimestamp: true, ...options })
  return { authorization: `Bearer ${token}` }
}

/** Headers of callers by role. */
export const withRole = (...roles: readonly string[]): Record<string, string> => bearer({ sub: 'someone', roles })
export const withPermission = (...permissions: readonly string[]): Record<string, string> =>
  bearer({ sub: 'someone', permissions })
