import { Problem } from './problem.js'

const CODE = 'client-gone'

/**
 * Creates the error that ends a request whose client disconnected. No client receives the error, but diagnostics
 * channels report the error.
 */
export function createDisconnectError(): Problem {
  return new Problem({ status: 499, code: CODE, title: 'Client Gone', type: 'about:blank' })
}

export function isDisconnectError(error: unknown): boolean {
  return error instanceof Problem && error.code === CODE
}
