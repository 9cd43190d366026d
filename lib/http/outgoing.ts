import type { Writable } from 'node:stream'

type Value = number | string | readonly string[]

/** Destination of a response: a response of Node or Express, or a stream for another server. */
export interface Outgoing extends Writable {
  statusCode: number
  readonly headersSent: boolean
  getHeader(name: string): Value | undefined
  hasHeader(name: string): boolean
  setHeader(name: string, value: Value): unknown
  removeHeader(name: string): void
}

type Headers = Readonly<Record<string, string>>

/** Sets headers of a reply. `Vary`, `Link` and `Server-Timing` extend existing values. A stricter `Cache-Control` of the host is kept. */
export function setHeaders(out: Outgoing, headers: Headers): void {
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    const join = out.hasHeader(name) ? JOINED.get(name) : undefined
    if (join !== undefined) out.setHeader(name, join(textOf(out.getHeader(name)), value))
    else if (name !== 'Cache-Control' || !isPrivate(out.getHeader(name))) out.setHeader(name, value)
  }
}

function textOf(value: Value | undefined): string {
  return value === undefined ? '' : [value].flat().join(', ')
}

/** Headers with lists of values, with the functions that merge new values. */
const JOINED: ReadonlyMap<string, (given: string, added: string) => string> = new Map([
  ['Vary', varied],
  ['Link', appended],
  ['Server-Timing', appended],
])

/** Joins both lists. The links of a resource are set more than once. */
function appended(given: string, added: string): string {
  return given.includes(added) ? given : `${given}, ${added}`
}

/** Names of both lists, without duplicates. */
function varied(given: string, added: string): string {
  const known = new Set(namesIn(given.toLowerCase()))
  const names = namesIn(added)
  if (known.has('*') || names.includes('*')) return '*'
  const fresh = names.filter((name) => !known.has(name.toLowerCase()))
  return [given, ...fresh].join(', ')
}

function namesIn(list: string): readonly string[] {
  return list.split(',').map((name) => name.trim())
}

function isPrivate(control: Value | undefined): boolean {
  if (control === undefined) return false
  return textOf(control)
    .split(',')
    .some((directive) => /^(?:no-store|private)$/i.test(directive.trim()))
}

/** Headers that cross-origin scripts can read only if `Access-Control-Expose-Headers` names them. */
const EXPOSED: readonly string[] = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After', 'Preference-Applied', 'WWW-Authenticate'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'Deprecation', 'Sunset'],
]

export const EXPOSES = 'Access-Control-Expose-Headers'

/** Exposes the reply's headers to cross-origin scripts. Names that the host has set are kept. `more` are headers that will be set later. */
export function expose(out: Outgoing, more: readonly string[] = []): void {
  // Without CORS by the host, no script reads the headers.
  if (!out.hasHeader('Access-Control-Allow-Origin')) return
  const given = textOf(out.getHeader(EXPOSES))
  const known = new Set(namesIn(given.toLowerCase()))
  const added = EXPOSED.filter((name) => (out.hasHeader(name) || more.includes(name)) && !known.has(name.toLowerCase()))
  if (added.length > 0) out.setHeader(EXPOSES, [...(given === '' ? [] : [given]), ...added].join(', '))
}
