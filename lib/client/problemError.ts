import type { ProblemCode } from '../../types/problem.js'

/** The body of a problem document (RFC 9457 section 3), as far as the answer had one. */
interface Body {
  readonly title?: unknown
  readonly code?: unknown
  readonly detail?: unknown
  readonly errors?: unknown
}

/** Any answer that is no success, and requests that got none. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** The status of the answer; 0 where there was none, and `cause` is what fetch threw. */
  readonly status: number
  /** What the problem is, for programs: a code of the service, `network` where nothing answered, else `http`. */
  readonly code: ProblemCode | 'network' | 'http' | (string & {})
  readonly title: string
  readonly detail: string | null
  /** Messages by property, or by query parameter. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** The answer, its body read; null where there was none. */
  readonly response: Response | null

  constructor(status: number, body: Body, response: Response | null, cause?: unknown) {
    const title = textOf(body.title) ?? (status === 0 ? 'Nothing answered.' : `The server answered ${status}.`)
    const detail = textOf(body.detail) ?? null
    const errors = typeof body.errors === 'object' && body.errors !== null ? { ...body.errors } : {}
    const more = detail ?? firstOf(errors)
    const message = more === null ? title : `${title}${/[.:!?]$/.test(title) ? '' : ':'} ${more}`
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = textOf(body.code) ?? (status === 0 ? 'network' : 'http')
    this.title = title
    this.detail = detail
    this.errors = errors
    this.response = response
  }
}

/** The first message about a property, where an answer has no detail. */
function firstOf(errors: object): string | null {
  const [first] = Object.entries(errors)
  const message = textOf([first?.[1]].flat()[0])
  return first === undefined || message === undefined ? null : `${first[0]}: ${message}`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What an answer that is no success says, whatever wrote it. */
export async function problemOf(response: Response): Promise<ProblemError> {
  let body: unknown
  try {
    body = JSON.parse(await response.text())
  } catch {
    // A proxy's page, or a body that broke off: the status says what there is to say.
  }
  return new ProblemError(response.status, typeof body === 'object' && body !== null ? body : {}, response)
}
