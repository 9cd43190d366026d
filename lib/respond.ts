import type { Request, Response } from 'express'
import type { Reply } from '../types/resource.js'
import { Problem, problem } from './problem.js'

/** Sends a reply as JSON, by the host's own Express settings. Where the host was faster, its answer stands. */
export function respond(res: Response, { status, headers, body }: Reply): void {
  if (res.headersSent) return
  res.status(status)
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '')
  expose(res, headers)
  if (body === null) res.end()
  else res.json(body)
}

/** The headers of lists that scripts of other origins may want to read. */
const EXPOSED: readonly string[] = ['Link', 'X-Total-Count']

/** Names them where the host opened the resource to other origins; what it named itself stays. */
function expose(res: Response, headers: Reply['headers']): void {
  if (res.getHeader('Access-Control-Allow-Origin') === undefined) return
  const given = [res.getHeader('Access-Control-Expose-Headers') ?? []].flat().join(', ')
  const known = new Set(given.split(',').map((name) => name.trim().toLowerCase()))
  const added = EXPOSED.filter((name) => headers[name] !== undefined && !known.has(name.toLowerCase()))
  if (added.length === 0) return
  res.setHeader('Access-Control-Expose-Headers', [...(given === '' ? [] : [given]), ...added].join(', '))
}

/** Sends a problem (RFC 9457 section 3). */
export function respondProblem(res: Response, thrown: Problem): void {
  // As bytes: Express would add a charset to text, which the media type does not have.
  const body = Buffer.from(JSON.stringify(thrown))
  for (const [name, value] of Object.entries(thrown.headers)) res.setHeader(name, value)
  res.status(thrown.status)
  res.setHeader('Content-Type', 'application/problem+json')
  res.send(body)
}

/**
 * Answers an error: a Problem as it is, anything else as a 500 without internals. The error of a 500 is handed on
 * once the reply is safe.
 */
export function respondError(req: Request, res: Response, error: unknown, onError: OnError): void {
  const known = error instanceof Problem ? error : null
  const isSent = known !== null && sends(res, known)
  if (!isSent) sends(res, problem('internal', { detail: 'An unexpected error occurred.' }))
  if (!isSent || known.status === 503) report(error, req, onError)
}

/** False where the problem cannot be sent: a host's may have headers that are none, or errors that are no JSON. */
function sends(res: Response, thrown: Problem): boolean {
  try {
    // An answer of the host's stands; one that broke off is cut, so that nobody takes it for whole.
    if (!res.headersSent) respondProblem(res, thrown)
    else if (!res.writableEnded) res.destroy()
    return true
  } catch {
    return false
  }
}

type OnError = (error: unknown, request: Request) => void

function report(error: unknown, req: Request, onError: OnError): void {
  // The reply is sent; an error handler that fails, now or later, must not take the process with it.
  try {
    const pending: unknown = onError(error, req)
    if (pending instanceof Promise) pending.catch(() => undefined)
  } catch {}
}
