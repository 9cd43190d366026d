import { createServer as createHttp, type Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttps, type Server as HttpsServer } from 'node:https'
import type { ExpressApplication, HttpServerOptions, HttpsServerOptions } from '../../types/server.js'

/**
 * An HTTP server for an Express application, 4 or 5, in which a request costs less than behind `app.listen`: its requests
 * and responses are made as the application's own, so that Express has nothing to change about each of them. Like that of
 * `node:http` it does not listen yet. With `tls` it is a server of `node:https`.
 *
 * Whatever listens to the server's own events, upgrades among them, gets requests that have the application's getters.
 *
 * @param options those of `node:http`, and `tls`: those of `node:tls`, of which there is none by default
 * @throws TypeError for what is no Express application, and for classes of requests and responses of the host's own
 */
export function createServer(app: ExpressApplication, options?: HttpServerOptions): HttpServer
export function createServer(app: ExpressApplication, options: HttpsServerOptions): HttpsServer
export function createServer(
  app: ExpressApplication,
  options: HttpServerOptions | HttpsServerOptions = {},
): HttpServer {
  const { request, response } = app
  if (typeof app !== 'function' || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) {
    throw new TypeError('createServer: the first argument must be an Express application')
  }
  const { tls, ...others } = options
  if ('IncomingMessage' in others || 'ServerResponse' in others) {
    throw new TypeError("createServer: IncomingMessage and ServerResponse are the application's")
  }
  const classes = {
    IncomingMessage: madeAs(request, IncomingMessage),
    ServerResponse: madeAs(response, ServerResponse),
  }
  if (tls === undefined) return createHttp({ ...others, ...classes }, app)
  return createHttps({ ...others, ...tls, ...classes }, app)
}

/**
 * A class whose instances are of `base`, with this very object as their prototype, which is what Express compares. It
 * calls its base as classes before ES2015 do, which Node's own are: made by `super`, or by `Reflect.construct`, the same
 * objects cost twice as much at each use.
 */
function madeAs<C extends Base>(prototype: object, base: C): C {
  const Made = function (this: object, ...args: unknown[]): void {
    Reflect.apply(base as unknown as () => void, this, args)
  }
  Made.prototype = prototype
  // By this V8 knows how many members its instances get, and has room for them within; statics are the base's as well.
  Object.setPrototypeOf(Made, base)
  return Made as unknown as C
}

type Base = typeof IncomingMessage | typeof ServerResponse
