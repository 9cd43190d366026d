import type { Request } from '../../types/express.js'

/** A placeholder for reads without a request. It has no members. Policies that need some throw, which denies access. */
export const NO_REQUEST = Object.freeze({}) as Request
