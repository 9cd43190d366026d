import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { shutdownStateOf } from '../common/shutdown.js'
import { unmount } from '../compile/mounted.js'
import { createUnknownNameError } from '../config/suggest.js'
import { hubOf } from './hub.js'

/** Default time for in-flight requests when a resource is closed, in milliseconds. */
const DEFAULT_CLOSE_TIMEOUT = 10_000
/** Longest delay of a Node.js timer. A longer delay fires at once. */
const MAX_TIMEOUT = 2 ** 31 - 1

/** Options of `close`. */
export interface CloseOptions {
  /** Milliseconds for in-flight requests, from 0 to 2147483647. Exports that take longer are aborted. Default 10000. */
  readonly within?: number
}

/**
 * Closes a resource. Rejects without closing anything: with a RangeError if `within` is out of range, with a
 * CrudConfigError for an unknown option.
 */
export type Close = (options?: CloseOptions) => Promise<void>

/**
 * Builds the function that closes a resource. The resource rejects new requests and waits for in-flight requests.
 * Afterwards its hub's path is free, and other resources cannot use the resource in relation paths. The promise is
 * fulfilled after the hub's clients are disconnected.
 */
export function createClose(resource: Resource): Close {
  let closed: Promise<void> | null = null
  const closeResource = async (within: number): Promise<void> => {
    const ended = shutdownStateOf(resource).close(within)
    const closing = hubOf(resource)?.close(ended)
    await ended
    unmount(resource)
    await closing
  }
  return async (options = {}) => {
    assertCloseOptions(options)
    const { within = DEFAULT_CLOSE_TIMEOUT } = options
    if (!Number.isFinite(within) || within < 0 || within > MAX_TIMEOUT) {
      throw new RangeError(
        `close: within must be a number of milliseconds from 0 to ${MAX_TIMEOUT}, not ${String(within)}`,
      )
    }
    closed ??= closeResource(within)
    await closed
  }
}

const OPTION_NAMES: readonly string[] = ['within'] satisfies (keyof CloseOptions)[]

/** Checks the options. @throws CrudConfigError if they are not an object or have an unknown name */
function assertCloseOptions(options: CloseOptions): void {
  if (!isObject(options)) throw new CrudConfigError('INVALID_OPTION', 'close: the options must be an object.')
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.includes(name))
  if (unknown !== undefined) throw createUnknownNameError('UNKNOWN_OPTION', 'close: the option', unknown, OPTION_NAMES)
}
