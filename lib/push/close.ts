import type { Resource } from '../../types/resource.js'
import { unmount } from '../compile/mounted.js'
import { hubOf } from './hub.js'

/**
 * The way to be rid of a resource: it has no say in relation paths any more, its hub's path is free, and the promise is
 * fulfilled once the hub's clients are disconnected.
 */
export function closerOf(resource: Resource): () => Promise<void> {
  return async () => {
    unmount(resource)
    await hubOf(resource)?.close()
  }
}
