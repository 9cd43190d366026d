import { Problem } from './problem.js'

const CODE = 'client-gone'

/** The end of what nobody waits for any more. Nobody reads it, but those who watch. */
export function left(): Problem {
  return new Problem({ status: 499, code: CODE, title: 'Client Gone', type: 'about:blank' })
}

export function isOfLeft(error: unknown): boolean {
  return error instanceof Problem && error.code === CODE
}
