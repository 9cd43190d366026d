import type { Headers } from './callers.js'
import type { Partition } from './partition.js'
import type { Expected, State } from './state.js'

export type Random = (limit: number) => number

/** A request, with a function that returns its correct response for a state of the owner's records. */
export interface Read {
  readonly kind: string
  readonly path: string
  /** Parameters in the body of a QUERY request. */
  readonly query?: Parameters
  /** Headers that identify the caller. Default: the connection's own caller. */
  readonly headers?: Headers
  /** Headers in addition to `headers`. */
  readonly also?: Headers
  readonly expected: (state: State) => Expected
}

export type Parameters = Readonly<Record<string, string | number>>

export type ReadMaker = (partition: Partition, random: Random) => Read

export const MANY = 1000

export function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[random(from.length)]
  if (chosen === undefined) throw new RangeError('nothing to pick from')
  return chosen
}

export function url(resource: string, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value))
  return `/api/${resource}?${query}`
}

/** Expected numbered page of a list. */
export function pageOf(all: readonly unknown[], page: number, pageSize: number): Expected {
  const totalPages = Math.ceil(all.length / pageSize)
  return {
    status: 200,
    body: {
      items: all.slice((page - 1) * pageSize, page * pageSize),
      totalCount: all.length,
      page,
      pageSize,
      totalPages,
      hasNextPage: page < totalPages,
      hasPreviousPage: page > 1,
    },
  }
}

/** Expected numbered page without a total. */
export function uncountedPageOf(all: readonly unknown[], page: number, pageSize: number): Expected {
  return {
    status: 200,
    body: {
      items: all.slice((page - 1) * pageSize, page * pageSize),
      totalCount: null,
      page,
      pageSize,
      totalPages: null,
      hasNextPage: page * pageSize < all.length,
      hasPreviousPage: page > 1,
    },
  }
}
