import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What came back over HTTP. `body` is parsed JSON, or undefined where there was none. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape, and asserts what it finds
  readonly body: any
  readonly text: string
}

/** Sends requests to a server. */
export interface TestClient {
  readonly url: string
  /** Sends a request; a `json` body goes out as JSON. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer>
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  readonly post: (path: string, json: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly patch: (path: string, json: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly delete: (path: string, headers?: Record<string, string>) => Promise<Answer>
}

/** A real server on a port of its own. */
export interface TestServer extends TestClient {
  /** For what listens to more than requests. */
  readonly server: Server
  readonly close: () => Promise<void>
}

export interface SendOptions {
  readonly json?: unknown
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** Serves an application (Express 4 or 5, or any listener) until it is closed. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { ...clientOf(`http://127.0.0.1:${port}`), server, close: () => closed(server) }
}

/** A client of a server that listens already. */
export function clientOf(url: string): TestClient {
  const send = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
    request(url + path, method, options)
  return {
    url,
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, json, headers = {}) => send('POST', path, { json, headers }),
    patch: (path, json, headers = {}) => send('PATCH', path, { json, headers }),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
  }
}

async function request(url: string, method: string, { json, body, headers = {} }: SendOptions): Promise<Answer> {
  const isJson = json !== undefined
  const response = await fetch(url, {
    method,
    headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
    redirect: 'manual',
    ...(isJson ? { body: JSON.stringify(json) } : body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const isParsed = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    body: isParsed && text !== '' ? JSON.parse(text) : undefined,
    text,
  }
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
