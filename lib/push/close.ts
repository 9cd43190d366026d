import type { Resource } from '../../types/resource.js'
import { servingOf } from '../common/serving.js'
import { unmount } from '../compile/mounted.js'
import { hubOf } from './hub.js'

/** Milliseconds that what is under way may take when a resource is closed, unless told. */
const WITHIN = 10_000

/** How a resource is closed. */
export interface CloseOptions {
  /** Milliseconds that requests under way may take; exports that take longer are cut. Default 10000. */
  readonly within?: number
}

export type Close = (options?: CloseOptions) => Promise<void>

/**
 * The way to be rid of a resource: it takes no requests any more, those under way end, it has no say in relation paths any
 * more, its hub's path is free, and the promise is fulfilled once the hub's clients are disconnected.
 */
export function closerOf(resource: Resource): Close {
  let closed: Promise<void> | null = null
  const close = async (within: number): Promise<void> => {
    const ended = servingOf(resource).close(within)
    const told = hubOf(resource)?.close(ended)
    await ended
    unmount(resource)
    await told
  }
  return ({ within = WITHIN } = {}) => {
    closed ??= close(within)
    return closed
  }
}
