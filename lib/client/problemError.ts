import type { ProblemCode } from '../../types/problem.js'

/** Body of a problem document (RFC 9457, section 3). All members are optional. */
interface Body {
  readonly title?: unknown
  readonly code?: unknown
  readonly detail?: unknown
  readonly errors?: unknown
}

/** Error of an unsuccessful response, or of a request without a response. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  /** HTTP status. 0 if there is no response: `cause` is the error of `fetch`. */
  readonly status: number
  /** Error code for programs: a code of the service, `network` without a response, otherwise `http`. */
  readonly code: ProblemCode | 'network' | 'http' | (string & {})
  readonly title: string
  readonly detail: string | null
  /** Messages by property or query parameter. */
  readonly errors: Readonly<Record<string, readonly string[]>>
  /** The response, whose body has been read. Null without a response. */
  readonly response: Response | null

  constructor(status: number, body: Body, response: Response | null, cause?: unknown) {
    const title =
      stringOrUndefined(body.title) ?? (status === 0 ? 'The server did not respond.' : `The server answered ${status}.`)
    const detail = stringOrUndefined(body.detail) ?? null
    const errors = readErrors(body.errors)
    // The first message about a property replaces a missing `detail`.
    const [first] = Object.entries(errors)
    const more = detail ?? (first === undefined ? null : `${first[0]}: ${first[1][0]}`)
    const message = more === null ? title : `${title}${/[.:!?]$/.test(title) ? '' : ':'} ${more}`
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = stringOrUndefined(body.code) ?? (status === 0 ? 'network' : 'http')
    this.title = title
    this.detail = detail
    this.errors = errors
    this.response = response
  }
}

/** Reads the messages by property. Other values are omitted, because a gateway may give the member another form. */
function readErrors(given: unknown): ProblemError['errors'] {
  const members = Object.entries(typeof given === 'object' && given !== null ? given : {}).map(
    ([name, value]: [string, unknown]) => {
      const messages = [value].flat().map(stringOrUndefined)
      return [name, messages.filter((message) => message !== undefined)] as const
    },
  )
  return Object.fromEntries(members.filter(([, messages]) => messages.length > 0))
}

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Creates the error for an unsuccessful response, also if it is not a problem document. */
export async function readProblem(response: Response): Promise<ProblemError> {
  let body: unknown
  try {
    body = JSON.parse(await response.text())
  } catch {
    // The body is a proxy's page or incomplete. The status is sufficient.
  }
  return new ProblemError(response.status, typeof body === 'object' && body !== null ? body : {}, response)
}
