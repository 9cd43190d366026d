import type { Request, Response } from 'express'
import type { Reply } from '../types/resource.js'
import { Problem, problem } from './problem.js'

/** Sends a reply as JSON, by the host's own Express settings. */
export function respond(res: Response, { status, headers, body }: Reply): void {
  res.status(status)
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? '')
  if (body === null) res.end()
  else res.json(body)
}

/** Sends a problem (RFC 9457 section 3). */
export function respondProblem(res: Response, thrown: Problem): void {
  res.status(thrown.status)
  for (const [name, value] of Object.entries(thrown.headers)) res.setHeader(name, value)
  res.setHeader('Content-Type', 'application/problem+json')
  // As bytes: Express would add a charset to text, which the media type does not have.
  res.send(Buffer.from(JSON.stringify(thrown)))
}

/**
 * Answers an error: a Problem as it is, anything else as a 500 without internals. The error of a 500 is handed on
 * once the reply is safe.
 */
export function respondError(req: Request, res: Response, error: unknown, onError: OnError): void {
  const known = error instanceof Problem ? error : null
  try {
    if (res.headersSent) res.destroy()
    else respondProblem(res, known ?? problem('internal', { detail: 'An unexpected error occurred.' }))
  } finally {
    if (known === null || known.status === 503) report(error, req, onError)
  }
}

type OnError = (error: unknown, request: Request) => void

function report(error: unknown, req: Request, onError: OnError): void {
  try {
    onError(error, req)
  } catch {
    // The reply is sent; an error handler that fails must not take the process with it.
  }
}
