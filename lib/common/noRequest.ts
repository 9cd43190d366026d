import type { Request } from '../../types/express.js'

/** In the place of a request where none was sent: nothing is found in it, and what it makes others throw closes their paths. */
export const NO_REQUEST = Object.freeze({}) as Request
