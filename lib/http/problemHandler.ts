import type { ErrorRequestHandler, Request } from 'express'
import { logError } from '../common/log.js'
import { isObject } from '../common/object.js'
import { Problem, type ProblemOptions } from '../common/problem.js'
import { bodyProblem } from '../parse/body.js'
import { respondError } from './respond.js'

/** Options of `problemHandler`. */
export interface ProblemHandlerOptions {
  /**
   * Receives unexpected errors after the response is sent. Default: `console.error`, with line breaks escaped so that texts cannot forge
   * log lines.
   */
  readonly onError?: (error: unknown, request: Request) => void
}

/**
 * Creates an Express error middleware that answers errors of the host's own routes as `application/problem+json` (RFC
 * 9457). Problems are sent unchanged. Errors with an exposed HTTP status (body-parser, http-errors) keep their status
 * and headers. All other errors become a 500 without internals.
 *
 * @throws TypeError for unknown options, and if it is passed to `app.use` without being called
 */
export function problemHandler(options: ProblemHandlerOptions = {}): ErrorRequestHandler {
  assertOptions(options)
  const { onError = logError } = options
  return (error, req, res, next) => {
    if (res.headersSent) {
      next(error)
      return
    }
    respondError(req, res, toProblem(error) ?? error, onError)
  }
}

/**
 * Rejects a request as options. With `app.use(problemHandler)` instead of `app.use(problemHandler())`, Express passes
 * the request as the first argument.
 */
function assertOptions(options: object): void {
  const given = typeof options === 'object' && options !== null ? Object.keys(options) : ['']
  if (given.every((name) => name === 'onError')) return
  throw new TypeError('problemHandler takes { onError } or nothing: app.use(problemHandler())')
}

function toProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error
  if (typeof error !== 'object' || error === null) return null
  const { status, expose, message, headers } = error as {
    readonly status?: unknown
    readonly expose?: unknown
    readonly message?: unknown
    readonly headers?: ProblemOptions['headers']
  }
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 499) return null
  const known = bodyProblem(error, undefined)
  if (known !== null) return known
  if (expose !== true) return new Problem({ status })
  return new Problem({
    status,
    ...(typeof message === 'string' ? { detail: message } : {}),
    ...(isObject(headers) ? { headers } : {}),
  })
}
