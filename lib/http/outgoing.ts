import type { Writable } from 'node:stream'

type Value = number | string | readonly string[]

/** The destination of a response: a response of Node or Express, or a stream for another server. */
export interface OutgoingResponse extends Writable {
  statusCode: number
  readonly headersSent: boolean
  getHeader(name: string): Value | undefined
  hasHeader(name: string): boolean
  setHeader(name: string, value: Value): unknown
  removeHeader(name: string): void
}

type Headers = Readonly<Record<string, string>>

/**
 * Sets headers of a reply, unless the host has already responded. `Vary`, `Link` and `Server-Timing` extend existing
 * values. A `Cache-Control` of the host with `private` or `no-store` is kept.
 */
export function setHeaders(out: OutgoingResponse, headers: Headers): void {
  if (out.headersSent) return
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    const join = out.hasHeader(name) ? HEADER_MERGERS.get(name) : undefined
    if (join !== undefined) out.setHeader(name, join(joinHeader(out.getHeader(name)), value))
    else if (name !== 'Cache-Control' || !isPrivate(out.getHeader(name))) out.setHeader(name, value)
  }
}

function joinHeader(value: Value | undefined): string {
  return value === undefined ? '' : [value].flat().join(', ')
}

/** Headers with lists of values, each with the function that merges new values. */
const HEADER_MERGERS: ReadonlyMap<string, (given: string, added: string) => string> = new Map([
  ['Vary', mergeVary],
  ['Link', mergeLists],
  ['Server-Timing', mergeLists],
])

/** Joins two lists. Links of a resource are set more than once, so a repeated value is not added again. */
function mergeLists(given: string, added: string): string {
  return given.includes(added) ? given : `${given}, ${added}`
}

/** Joins the names of two `Vary` lists, without duplicates. */
function mergeVary(given: string, added: string): string {
  const known = new Set(splitList(given.toLowerCase()))
  const names = splitList(added)
  if (known.has('*') || names.includes('*')) return '*'
  const missing = names.filter((name) => !known.has(name.toLowerCase()))
  return [given, ...missing].join(', ')
}

function splitList(list: string): readonly string[] {
  return list.split(',').map((name) => name.trim())
}

function isPrivate(control: Value | undefined): boolean {
  if (control === undefined) return false
  return joinHeader(control)
    .split(',')
    .some((directive) => /^(?:no-store|private)$/i.test(directive.trim()))
}

/** The headers that cross-origin scripts can read only if `Access-Control-Expose-Headers` names them. */
const EXPOSED_HEADERS: readonly string[] = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After', 'Preference-Applied', 'WWW-Authenticate'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'Deprecation', 'Sunset'],
]

export const EXPOSE_HEADER = 'Access-Control-Expose-Headers'

/**
 * Exposes the reply's headers to cross-origin scripts. Names that the host has set are kept. `more` names headers that
 * are set later.
 */
export function exposeHeaders(out: OutgoingResponse, more: readonly string[] = []): void {
  // Without CORS headers by the host, scripts of other origins cannot read the response.
  if (!out.hasHeader('Access-Control-Allow-Origin')) return
  const given = joinHeader(out.getHeader(EXPOSE_HEADER))
  const known = new Set(splitList(given.toLowerCase()))
  const added = EXPOSED_HEADERS.filter(
    (name) => (out.hasHeader(name) || more.includes(name)) && !known.has(name.toLowerCase()),
  )
  if (added.length > 0) out.setHeader(EXPOSE_HEADER, [...(given === '' ? [] : [given]), ...added].join(', '))
}
