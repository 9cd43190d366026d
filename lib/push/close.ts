import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { servingOf } from '../common/serving.js'
import { unmount } from '../compile/mounted.js'
import { unknownName } from '../config/suggest.js'
import { hubOf } from './hub.js'

/** Milliseconds that what is under way may take when a resource is closed, unless told. */
const WITHIN = 10_000
/** The most that a timer takes: beyond it Node's does not wait at all. */
const LONGEST = 2 ** 31 - 1

/** How a resource is closed. */
export interface CloseOptions {
  /** Milliseconds that requests under way may take, from 0 to 2147483647; exports that take longer are cut. Default 10000. */
  readonly within?: number
}

/** Rejects, and closes nothing: with a RangeError where `within` is no such number, with a CrudConfigError for any other option. */
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

/** @throws CrudConfigError for options that would mean nothing */
function assertKnown(options: CloseOptions): void {
  if (!isObject(options)) throw new CrudConfigError('INVALID_OPTION', 'close: the options must be an object.')
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name))
  if (unknown !== undefined) throw unknownName('UNKNOWN_OPTION', 'close: the option', unknown, OPTIONS)
}
