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
 *
 * @throws TypeError for options that do not exist; also where it is given to `app.use` without being called
 */
export function problemHandler(options: ProblemHandlerOptions = {}): ErrorRequestHandler {
  assertOptions(options)
  const { onError = logError } = options
  return (error, req, res, next) => {
    if (res.headersSent) {
      next(error)
      return
    }
    respondError(req, res, asProblem(error) ?? error, onError)
  }
}

/** As a middleware itself it would be called with a request, and answer nothing. */
function assertOptions(options: object): void {
  const given = typeof options === 'object' && options !== null ? Object.keys(options) : ['']
  if (given.every((name) => name === 'onError')) return
  throw new TypeError('problemHandler takes { onError } or nothing: app.use(problemHandler())')
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
