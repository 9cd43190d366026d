import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import type { TlsOptions } from 'node:tls'

/** What `createServer` needs of an Express application, of whichever major version. */
export interface ExpressApplication {
  (req: IncomingMessage, res: ServerResponse): unknown
  /** The prototype of its requests. */
  readonly request: object
  /** The prototype of its responses. */
  readonly response: object
}

type Options = Omit<ServerOptions, 'IncomingMessage' | 'ServerResponse'>

/** The options of `node:http`, but for the classes that are the application's. */
export interface HttpServerOptions extends Options {
  readonly tls?: undefined
}

/** The same with those of `node:tls`: `{ key, cert }`, for example. */
export interface HttpsServerOptions extends Options {
  readonly tls: TlsOptions
}
