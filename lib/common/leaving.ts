import type { Request } from 'express'
import { Problem } from './problem.js'

/** Whether whoever sent a request is still there for the answer. */
export class Leaving {
  readonly request: Request
  #told: Set<() => void> | null = null

  constructor(request: Request) {
    this.request = request
  }

  /** Whether the connection has ended before there was an answer, be it the host's own. */
  get isLeft(): boolean {
    const { res } = this.request
    return res?.destroyed === true && !res.writableEnded
  }

  /** Calls something when that happens, or soon where it has; gives what makes it not be called any more. */
  whenLeft(tell: () => void): () => void {
    // One listener for all: Node warns of many.
    this.#told ??= this.#listen()
    const told = this.#told
    told.add(tell)
    if (this.isLeft) setImmediate(() => told.has(tell) && tell())
    return () => void told.delete(tell)
  }

  #listen(): Set<() => void> {
    const told = new Set<() => void>()
    this.request.res?.once('close', () => {
      if (this.isLeft) for (const tell of told) tell()
    })
    return told
  }
}

const CODE = 'client-gone'

/** The end of what nobody waits for any more. Nobody reads it, but those who watch. */
export function left(): Problem {
  return new Problem({ status: 499, code: CODE, title: 'Client Gone', type: 'about:blank' })
}

export function isOfLeft(error: unknown): boolean {
  return error instanceof Problem && error.code === CODE
}
