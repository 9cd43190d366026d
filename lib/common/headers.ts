import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'

type Headers = Readonly<Record<string, string>>

/** Headers of replies that depend on the caller. */
export const PRIVATE_HEADERS: Headers = Object.freeze({ Vary: 'Authorization', 'Cache-Control': 'private' })

/**
 * Merges the headers of one reply. Values of `Vary` and `Link` are joined; for other headers the last value applies.
 */
export function mergeHeaders(all: readonly Headers[]): Headers {
  const [first, ...others] = all
  if (first === undefined || others.length === 0) return first ?? NONE
  const merged: Record<string, string> = { ...first }
  for (const [name, value] of others.flatMap((headers) => Object.entries(headers))) {
    const known = merged[name]
    const join = HEADER_JOINERS.get(name)
    merged[name] = known === undefined || join === undefined ? value : join(known, value)
  }
  return merged
}

/** Sets the headers of every reply of a resource's routes. */
export function setResourceHeaders(
  { behaviours: { headers, ownHeaders } }: Resource,
  call: Pick<Call, 'addHeaders'>,
): void {
  call.addHeaders(headers)
  call.addHeaders(ownHeaders)
}

const NONE: Headers = Object.freeze({})

/** Headers whose values are lists, with the function that joins two lists. */
const HEADER_JOINERS: ReadonlyMap<string, (known: string, added: string) => string> = new Map([
  ['Vary', joinVary],
  ['Link', joinLinks],
])

function joinLinks(known: string, added: string): string {
  return `${known}, ${added}`
}

function joinVary(...values: readonly string[]): string {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim())
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()].join(', ')
}
