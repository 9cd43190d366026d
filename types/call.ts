import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from './express.js'

/** The connection state of a request's client. */
export interface ClientConnection {
  /** The host's request, for policies, hooks and `onError`. */
  readonly request: Request
  /** Whether the client disconnected before the response was sent. Responses of the host's own code count too. */
  readonly isDisconnected: boolean
  /**
   * Calls `listener` when the client disconnects, or soon if the client has disconnected already. Returns a function that
   * removes the listener.
   */
  readonly onDisconnect: (listener: () => void) => () => void
}

/** A request, independent of the server that received it. */
export interface Call extends ClientConnection {
  readonly method: string
  /** The path parameters: `id`, and `key` below a relation. */
  readonly params: Readonly<Record<string, unknown>>
  /** The request target as the client sent it. */
  readonly originalUrl: string
  /** The path relative to the resource's routes, with the query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The parsed body; undefined until the body is read. */
  readonly body: unknown
  /** Whether the host has parsed the body already. */
  readonly isParsed: boolean
  /** The names of the response formats. */
  readonly formats: readonly string[]
  /** Reads a body of at most `bodySize` bytes. @throws errors of the body parser */
  readonly readBody: (as: 'json' | 'text', bodySize: number) => Promise<void>
  /** The media type that the `Accept` header prefers; false if the header accepts none of the types. */
  readonly accepts: (types: readonly string[]) => string | false
  /** Sets headers of the response. Problem responses have these headers as well. */
  readonly addHeaders: (headers: Readonly<Record<string, string>>) => void
}
