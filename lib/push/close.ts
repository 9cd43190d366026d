import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { servingOf } from '../common/serving.js'
import { unmount } from '../compile/mounted.js'
import { unknownName } from '../config/suggest.js'
import { hubOf } from './hub.js'

/** Default time for in-flight requests when a resource is closed, in milliseconds. */
const WITHIN = 10_000
/** Longest delay of a Node.js timer. A longer delay fires at once. */
const LONGEST = 2 ** 31 - 1

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
 * Builds the function that closes a resource. The resource rejects new requests and in-flight requests end. Then other
 * resources no longer use it in relation paths, and its hub's path is free. The promise is fulfilled after the hub's
 * clients are disconnected.
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
  return async (options = {}) => {
    assertKnown(options)
    const { within = WITHIN } = options
    if (!Number.isFinite(within) || within < 0 || within > LONGEST) {
      throw new RangeError(`close: within must be a number of milliseconds from 0 to ${LONGEST}, not ${String(within)}`)
    }
    closed ??= close(within)
    await closed
  }
}

const OPTIONS: readonly string[] = ['within'] satisfies (keyof CloseOptions)[]

/** @throws CrudConfigError if the options are not an object or have an unknown name */
function assertKnown(options: CloseOptions): void {
  if (!isObject(options)) throw new CrudConfigError('INVALID_OPTION', 'close: the options must be an object.')
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', 'close: the option', unknown, OPTIONS)
}
