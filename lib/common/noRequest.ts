import type { Request } from '../../types/express.js'

/**
 * A placeholder for reads without a request. It has no members, so a policy that reads a member throws, which denies
 * access.
 */
export const NO_REQUEST = Object.freeze({}) as Request
