import type { ErrorRequestHandler, Request } from 'express'
import { logError } from '../common/log.js'
import { Problem, type ProblemOptions } from '../common/problem.js'
import { bodyProblem } from '../parse/body.js'
import { respondError } from './respond.js'

/** The options of `problemHandler`. */
export interface ProblemHandlerOptions {
  /** Hears of unexpected errors after the reply is sent. Default: `console.error`, in lines that no text of theirs can forge. */
  readonly onError?: (error: unknown, request: Request) => void
}

/**
 * An Express error middleware that answers the errors of the host's own routes as `application/problem+json`:
 * Problems as they are, errors that carry an exposed HTTP status (body-parser's, http-errors') under it, and
 * everything else as a 500 without internals.
 */
export function problemHandler({ onError = logError }: ProblemHandlerOptions = {}): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) {
      next(error)
      return
    }
    respondError(req, res, asProblem(error) ?? error, onError)
  }
}

function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (typeof error !== 'object' || error === null) return null
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown }
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 499) return null
  const known = bodyProblem(error, undefined)
  if (known !== null) return known
  const options: ProblemOptions =
    expose === true && typeof message === 'string' ? { status, detail: message } : { status }
  return new Problem(options)
}
