import type { Request, Response } from 'express'
import type { Reply } from '../../types/reply.js'
import { cut } from '../common/cut.js'
import { isPending } from '../common/pending.js'
import { Problem, problem } from '../common/problem.js'
import { type OnError, report } from '../common/report.js'
import { endConnection } from '../common/serving.js'
import { isNamed } from '../parse/match.js'
import { type Format, formatFor } from './formats.js'

/** Sets headers that any reply has; `Vary` adds to what the host set, and a stricter `Cache-Control` of its own stands. */
export function setHeaders(res: Response, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (name === 'Vary' && res.hasHeader(name)) res.vary(value)
    else if (name !== 'Cache-Control' || !isPrivate(res.getHeader(name))) res.setHeader(name, value)
  }
}

function isPrivate(control: number | string | readonly string[] | undefined): boolean {
  if (control === undefined) return false
  return String(control)
    .split(',')
    .some((directive) => /^(?:no-store|private)$/i.test(directive.trim()))
}

/** Sends a reply in one of the formats. Where the host was faster, its answer stands. */
export function respond(
  req: Request,
  res: Response,
  { status, headers, content, responseBytes = Number.POSITIVE_INFINITY }: Reply,
  formats: readonly Format[],
): void | Promise<void> {
  if (res.headersSent) return
  const format = content.kind === 'nothing' ? null : formatFor(formats, req, res, content)
  const own = content.kind === 'nothing' ? undefined : format?.headers?.(content)
  setHeaders(res, headers)
  if (own !== undefined) setHeaders(res, own)
  const exposed = res.getHeader(EXPOSES)
  if (isOpened(res)) expose(res, format?.tagged ? addedTo(req) : NONE)
  if (isUnchanged(req, status, headers.ETag)) {
    res.status(304).end()
    return
  }
  res.status(status)
  if (content.kind === 'nothing') res.end()
  else if (format !== null)
    return send(res, format, { content, said: [headers, own ?? {}], exposed, limit: responseBytes })
}

interface Sending {
  readonly content: Parameters<Format['send']>[1]
  readonly said: readonly Reply['headers'][]
  readonly exposed: ReturnType<Response['getHeader']>
  readonly limit: number
}

/** Where an answer fails before a byte of it is on its way, what was said of it is taken back: a problem takes its place. */
function send(res: Response, format: Format, { content, said, exposed, limit }: Sending): void | Promise<void> {
  const failed = (error: unknown): never => {
    if (!res.headersSent) {
      for (const name of said.flatMap((each) => Object.keys(each))) if (!EVERYWHERE.has(name)) res.removeHeader(name)
      if (exposed === undefined) res.removeHeader(EXPOSES)
      else res.setHeader(EXPOSES, exposed)
    }
    throw error
  }
  try {
    const sent = format.send(res, content, limit)
    return isPending(sent) ? sent.catch(failed) : undefined
  } catch (error) {
    return failed(error)
  }
}

/** The headers that problems have as well. */
const EVERYWHERE: ReadonlySet<string> = new Set(['Vary', 'Cache-Control'])

/**
 * Whether the client has this version already (RFC 9110 section 13.1.2). Express decides the same only where the request
 * has no `Cache-Control: no-cache`, which is for caches and not for the origin.
 */
function isUnchanged(req: Request, status: number, tag: string | undefined): boolean {
  const known = req.headers['if-none-match']
  if (tag === undefined || known === undefined || status !== 200) return false
  if (req.method !== 'GET' && req.method !== 'HEAD') return false
  return isNamed(tag, known)
}

/** The headers that scripts of other origins read only where they are named. */
const EXPOSED: readonly string[] = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'Retry-After', 'Preference-Applied', 'WWW-Authenticate'],
  ...['Content-Disposition', 'Idempotency-Replayed'],
]

/** Whether the host opened the resource to other origins. */
function isOpened(res: Response): boolean {
  return res.hasHeader('Access-Control-Allow-Origin')
}

const EXPOSES = 'Access-Control-Expose-Headers'

/** Names those that the reply has, for scripts of other origins; what the host named itself stays. */
function expose(res: Response, more: ReadonlySet<string>): void {
  const given = [res.getHeader(EXPOSES) ?? []].flat().join(', ')
  const known = new Set(given.split(',').map((name) => name.trim().toLowerCase()))
  const added = EXPOSED.filter((name) => (res.hasHeader(name) || more.has(name)) && !known.has(name.toLowerCase()))
  if (added.length === 0) return
  res.setHeader(EXPOSES, [...(given === '' ? [] : [given]), ...added].join(', '))
}

const NONE: ReadonlySet<string> = new Set()
const TAGGED: ReadonlySet<string> = new Set(['ETag'])

/** What Express adds of these while it sends a body, unless its setting `etag` is off. */
function addedTo(req: Request): ReadonlySet<string> {
  return typeof req.app.get('etag fn') === 'function' ? TAGGED : NONE
}

/** Sends a problem (RFC 9457 section 3). */
export function respondProblem(res: Response, thrown: Problem): void {
  // Not by `send`: it would add a charset, which the media type does not have, and an entity tag.
  const body = Buffer.from(JSON.stringify(thrown))
  for (const [name, value] of Object.entries(thrown.headers)) res.setHeader(name, value)
  if (isOpened(res)) expose(res, NONE)
  res.status(thrown.status)
  res.setHeader('Content-Type', 'application/problem+json')
  // A problem says back what was sent.
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('Content-Length', body.length)
  res.end(body)
}

/**
 * Answers an error: a Problem as it is, anything else as a 500 without internals. The error of a 500 is handed on
 * once the reply is safe.
 */
export function respondError(req: Request, res: Response, error: unknown, onError: OnError): void {
  if (res.headersSent && !res.writableEnded) {
    // It broke off, and is cut so that nobody takes it for whole.
    report(error, req, onError)
    cut(res)
    return
  }
  const known = error instanceof Problem ? error : null
  const isSent = known !== null && sends(res, known)
  if (!isSent) sends(res, problem('internal', { detail: 'An unexpected error occurred.' }))
  if (!isSent || known.status === 503) report(error, req, onError)
}

/** The answer to a request that comes when the host has closed the resource. Nobody needs to hear of it. */
export function respondClosed(req: Request, res: Response): Problem {
  const closed = problem('unavailable', {
    detail: 'The service is shutting down. Try again later.',
    headers: { 'Retry-After': '1' },
  })
  endConnection(req, res)
  sends(res, closed)
  return closed
}

/** False where the problem cannot be sent: a host's may have headers that are none, or errors that are no JSON. */
function sends(res: Response, thrown: Problem): boolean {
  try {
    // An answer of the host's stands.
    if (!res.headersSent) respondProblem(res, thrown)
    return true
  } catch {
    return false
  }
}
