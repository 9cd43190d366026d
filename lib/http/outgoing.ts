import type { Writable } from 'node:stream'

type Value = number | string | readonly string[]

/** What an answer is written to: a response of Node's or Express' server, or what is handed to another one. */
export interface Outgoing extends Writable {
  statusCode: number
  readonly headersSent: boolean
  getHeader(name: string): Value | undefined
  hasHeader(name: string): boolean
  setHeader(name: string, value: Value): unknown
  removeHeader(name: string): void
}

type Headers = Readonly<Record<string, string>>

/**
 * Sets headers that any reply has. `Vary`, `Link` and `Server-Timing` add to those that are set already, and a stricter `Cache-Control` of the host's
 * stands.
 */
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

/** Headers with a list of values, by how values are added to those that are set. */
const JOINED: ReadonlyMap<string, (given: string, added: string) => string> = new Map([
  ['Vary', varied],
  ['Link', appended],
  ['Server-Timing', appended],
])

/** Both lists. A resource's own links are set more than once. */
function appended(given: string, added: string): string {
  return given.includes(added) ? given : `${given}, ${added}`
}

/** The names of both, each once. */
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

/** The headers that scripts of other origins read only where they are named. */
const EXPOSED: readonly string[] = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After', 'Preference-Applied', 'WWW-Authenticate'],
  ...['Content-Disposition', 'Idempotency-Replayed', 'Deprecation', 'Sunset'],
]

export const EXPOSES = 'Access-Control-Expose-Headers'

/** Names those that the reply has, for scripts of other origins; what the host named itself stays. `more` will be set as well. */
export function expose(out: Outgoing, more: readonly string[] = []): void {
  // Whether the host opened the resource to other origins.
  if (!out.hasHeader('Access-Control-Allow-Origin')) return
  const given = textOf(out.getHeader(EXPOSES))
  const known = new Set(namesIn(given.toLowerCase()))
  const added = EXPOSED.filter((name) => (out.hasHeader(name) || more.includes(name)) && !known.has(name.toLowerCase()))
  if (added.length > 0) out.setHeader(EXPOSES, [...(given === '' ? [] : [given]), ...added].join(', '))
}
