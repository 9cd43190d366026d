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

/** Sets headers that any reply has; `Vary` adds to what the host set, and a stricter `Cache-Control` of its own stands. */
export function setHeaders(out: Outgoing, headers: Headers): void {
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (name === 'Vary' && out.hasHeader(name)) out.setHeader(name, varied(textOf(out.getHeader(name)), value))
    else if (name !== 'Cache-Control' || !isPrivate(out.getHeader(name))) out.setHeader(name, value)
  }
}

function textOf(value: Value | undefined): string {
  return value === undefined ? '' : [value].flat().join(', ')
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
  ...['Content-Disposition', 'Idempotency-Replayed'],
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
