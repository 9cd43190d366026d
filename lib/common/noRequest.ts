import type { Request } from '../../types/express.js'

/**
 * A placeholder for reads without a request. It has no members, so a policy that needs a member denies access or
 * throws.
 */
export const NO_REQUEST = Object.freeze({}) as Request
