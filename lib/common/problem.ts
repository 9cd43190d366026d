import { ProblemDocument } from 'http-problem-details'
import type { ProblemCode } from '../../types/problem.js'
import { truncateEcho } from './truncateEcho.js'

export type { ProblemCode }

/** Messages by property or parameter name. */
export type ProblemErrors = Readonly<Record<string, readonly string[]>>

interface ProblemRow {
  readonly status: number
  readonly type: string
  readonly title: string
}

const RFC9110 = 'https://tools.ietf.org/html/rfc9110#section-'

/** The status, type and title of each problem, by code. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemRow>> = Object.freeze({
  validation: { status: 400, type: `${RFC9110}15.5.1`, title: 'One or more validation errors occurred.' },
  'malformed-body': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed body.' },
  'malformed-filter': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed filter.' },
  'malformed-sort': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed sort.' },
  'malformed-select': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed select.' },
  'malformed-aggregate': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed aggregate.' },
  'malformed-group': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed group.' },
  'malformed-having': { status: 400, type: `${RFC9110}15.5.1`, title: 'Malformed having.' },
  'unknown-field': { status: 400, type: `${RFC9110}15.5.1`, title: 'Unknown field.' },
  'unknown-parameter': { status: 400, type: `${RFC9110}15.5.1`, title: 'Unknown parameter.' },
  'invalid-query': { status: 400, type: `${RFC9110}15.5.1`, title: 'Invalid query.' },
  'bad-request': { status: 400, type: `${RFC9110}15.5.1`, title: 'Bad Request' },
  unauthorized: { status: 401, type: `${RFC9110}15.5.2`, title: 'Unauthorized' },
  forbidden: { status: 403, type: `${RFC9110}15.5.4`, title: 'Forbidden' },
  'not-found': { status: 404, type: `${RFC9110}15.5.5`, title: 'Not Found' },
  'method-not-allowed': { status: 405, type: `${RFC9110}15.5.6`, title: 'Method Not Allowed' },
  conflict: { status: 409, type: `${RFC9110}15.5.10`, title: 'Conflict' },
  'not-written': { status: 409, type: `${RFC9110}15.5.10`, title: 'Conflict' },
  'idempotency-in-progress': { status: 409, type: `${RFC9110}15.5.10`, title: 'Conflict' },
  'precondition-failed': { status: 412, type: `${RFC9110}15.5.13`, title: 'Precondition Failed' },
  'content-too-large': { status: 413, type: `${RFC9110}15.5.14`, title: 'Content Too Large' },
  'unsupported-media-type': { status: 415, type: `${RFC9110}15.5.16`, title: 'Unsupported Media Type' },
  'idempotency-mismatch': { status: 422, type: `${RFC9110}15.5.21`, title: 'Unprocessable Content' },
  'precondition-required': {
    status: 428,
    type: 'https://tools.ietf.org/html/rfc6585#section-3',
    title: 'Precondition Required',
  },
  internal: { status: 500, type: `${RFC9110}15.6.1`, title: 'Internal Server Error' },
  timeout: { status: 503, type: `${RFC9110}15.6.4`, title: 'Service Unavailable' },
  unavailable: { status: 503, type: `${RFC9110}15.6.4`, title: 'Service Unavailable' },
})

/** The arguments of `new Problem`. `type` and `title` default to the values for the status. */
export interface ProblemOptions {
  readonly status: number
  readonly code?: ProblemCode | (string & {})
  readonly type?: string
  readonly title?: string
  readonly detail?: string
  readonly errors?: ProblemErrors
  readonly headers?: Readonly<Record<string, string>>
}

const problemsByStatus: ReadonlyMap<number, readonly [ProblemCode, ProblemRow]> = new Map(
  (Object.keys(PROBLEMS) as ProblemCode[])
    // Problems of a single header or limit are never the default of their status.
    .filter(
      (code) =>
        !code.startsWith('idempotency') &&
        code !== 'timeout' &&
        code !== 'not-written' &&
        (code === 'bad-request' || PROBLEMS[code].status !== 400),
    )
    .map((code) => [PROBLEMS[code].status, [code, PROBLEMS[code]]]),
)

/**
 * An error with a response. Thrown below any route, it is sent as `application/problem+json` (RFC 9457) with its status
 * and headers. Hosts may throw it from hooks and policies.
 *
 * @throws RangeError unless the status is an error status (400 to 599)
 */
export class Problem extends Error {
  readonly status: number
  /** The code, which this package or the host defines. */
  readonly code: ProblemCode | (string & {})
  readonly type: string
  readonly title: string
  readonly detail: string | undefined
  readonly errors: ProblemErrors | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(options: ProblemOptions) {
    if (!Number.isInteger(options.status) || options.status < 400 || options.status > 599) {
      throw new RangeError(`A Problem's status is a whole number from 400 to 599, not ${String(options.status)}.`)
    }
    const known = problemsByStatus.get(options.status)
    const title = options.title ?? known?.[1].title ?? `Status ${options.status}`
    super(options.detail ?? title)
    this.name = 'Problem'
    this.status = options.status
    this.code = options.code ?? known?.[0] ?? `status-${options.status}`
    this.type = options.type ?? known?.[1].type ?? 'about:blank'
    this.title = title
    this.detail = options.detail
    this.errors = options.errors
    this.headers = options.headers ?? {}
  }

  /** Returns the body of the response: `type`, `title`, `status`, `code` and, if given, `detail` and `errors`. */
  toJSON(): Record<string, unknown> {
    const { status, type, title, code, detail, errors } = this
    // The members are set one by one. An extension object passed to the document could overwrite `status` and `title`.
    const document = new ProblemDocument({ status, type, title, ...(detail === undefined ? {} : { detail }) })
    // With `about:blank` the document has no title, or a title of its own.
    const body = { ...document, title, code }
    return errors === undefined ? body : { ...body, errors }
  }
}

/** Whether an error rejects a request, in contrast to a failure of the server. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500
}

/** Creates the problem of an invalid query parameter. `message` becomes the entry in `errors`. */
export function invalidQuery(parameter: string, message: string): Problem {
  const name = truncateEcho(parameter)
  return problem('invalid-query', { errors: { [name]: [message] }, detail: `${name}: ${message}` })
}

/**
 * Creates the problem of a parameter for a collection that `select` does not name. The text does not depend on whether
 * the collection exists.
 */
export function unselectedCollection(parameter: string): Problem {
  return invalidQuery(parameter, 'applies to a collection that the parameter "select" does not contain.')
}

/** Creates a problem by its code, with details of the occurrence. */
export function problem(
  code: ProblemCode,
  more: {
    detail?: string
    errors?: ProblemErrors
    headers?: Readonly<Record<string, string>>
  } = {},
): Problem {
  const { errors } = more
  return new Problem({
    code,
    ...PROBLEMS[code],
    ...more,
    ...(errors === undefined ? {} : { errors: limitErrors(errors) }),
  })
}

/** The maximum number of names in `errors` of a response. A batch may repeat an error for each record. */
const MAX_NAMED_FIELDS = 5000

/** Truncates long names and limits the number of names, because clients may invent names. */
function limitErrors(errors: ProblemErrors): ProblemErrors {
  const names = Object.keys(errors)
  if (names.length <= MAX_NAMED_FIELDS && names.every((name) => truncateEcho(name) === name)) return errors
  return Object.fromEntries(names.slice(0, MAX_NAMED_FIELDS).map((name) => [truncateEcho(name), errors[name] ?? []]))
}
