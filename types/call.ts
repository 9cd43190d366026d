import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from './express.js'

/** Whether whoever sent a request is still there for the answer. */
export interface Leaving {
  /** The host's own request, which its policies, hooks and `onError` are given. */
  readonly request: Request
  /** Whether the connection has ended before there was an answer, be it the host's own. */
  readonly isLeft: boolean
  /** Calls something when that happens, or soon where it has; gives what makes it not be called any more. */
  readonly whenLeft: (tell: () => void) => () => void
}

/** A request as every stage reads it, whichever server has received it. */
export interface Call extends Leaving {
  readonly method: string
  /** The parameters of the path: `id`, and `key` below a relation. */
  readonly params: Readonly<Record<string, unknown>>
  /** The target as the client has sent it. */
  readonly originalUrl: string
  /** The path as the resource's routes know it, and the query. */
  readonly url: string
  /** The path as the client sees it, mount point included. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body as it was read; undefined before that. */
  readonly body: unknown
  /** Whether the host has read the body. */
  readonly isParsed: boolean
  /** The names of the formats that the reply can be written in. */
  readonly formats: readonly string[]
  /** Reads the body, of at most so many bytes. @throws what its parser fails with */
  readonly read: (as: 'json' | 'text', bodySize: number) => Promise<void>
  /** The media type that the client likes best. */
  readonly accepts: (types: readonly string[]) => string | false
  /** Takes headers of the answer, whichever it is: a problem has them as well. */
  readonly tell: (headers: Readonly<Record<string, string>>) => void
}
