import type { RequestListener } from 'node:http'
import { Agent, createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkReplies } from './replies.js'

/** An HTTP response. `body` is parsed JSON, or undefined without a body. */
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
  /** Sends a request. A `json` body is sent as JSON. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer>
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  readonly post: (path: string, json: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly patch: (path: string, json: unknown, headers?: Record<string, string>) => Promise<Answer>
  readonly delete: (path: string, headers?: Record<string, string>) => Promise<Answer>
}

/** A real server on a port of its own. */
export interface TestServer extends TestClient {
  /** The server, for listeners of other events. */
  readonly server: Server
  readonly close: () => Promise<void>
}

export interface SendOptions {
  readonly json?: unknown
  readonly body?: string
  readonly headers?: Record<string, string>
}

/**
 * Serves an application (Express 4 or 5, or any listener) until it is closed. Responses of resources are compared with
 * their documents. An undocumented response makes the request or the closing of the server fail.
 */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const objections: string[] = []
  const assertDocumented = (): void => {
    const found = objections.splice(0)
    if (found.length > 0) throw new Error(`not as documented:\n${found.join('\n')}`)
  }
  const server = createServer(checkReplies(listener, objections))
  // The server keeps idle connections longer than the client. On a busy machine, a request could otherwise use a
  // connection that the server is closing.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...clientOf(`http://127.0.0.1:${port}`, assertDocumented),
    server,
    close: async () => {
      await closeServer(server)
      assertDocumented()
    },
  }
}

/** Creates a client of a running server. */
export function clientOf(url: string, afterwards: () => void = () => undefined): TestClient {
  const send = async (method: string, path: string, options: SendOptions = {}): Promise<Answer> => {
    const answer = await request(url + path, method, options)
    afterwards()
    return answer
  }
  return {
    url,
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, json, headers = {}) => send('POST', path, { json, headers }),
    patch: (path, json, headers = {}) => send('PATCH', path, { json, headers }),
    delete: (path, headers = {}) => send('DELETE', path, { headers }),
  }
}

// The client closes a connection after three seconds without use. Node's default for servers is five seconds.
const agent = new Agent({ keepAlive: true, timeout: 3000 })
const decoder = new TextDecoder()

/** Sends a request with `node:http`, which needs a third of the processor time of `fetch`. */
async function request(url: string, method: string, options: SendOptions): Promise<Answer> {
  const { status, type, raw, bytes } = await sendRequest(url, method, options)
  const text = decoder.decode(bytes)
  const isParsed = text !== '' && /[/+]json\b/.test(type)
  let headers: Headers | undefined
  return {
    status,
    // The object is created on demand. Few tests need headers, and creating them costs as much as parsing the body.
    get headers() {
      headers ??= headersOf(raw)
      return headers
    },
    body: isParsed ? JSON.parse(text) : undefined,
    text,
  }
}

interface RawResponse {
  readonly status: number
  readonly type: string
  readonly raw: readonly string[]
  readonly bytes: Buffer
}

function sendRequest(url: string, method: string, options: SendOptions): Promise<RawResponse> {
  const { json, body, headers = {} } = options
  const isJson = json !== undefined
  const text = isJson ? JSON.stringify(json) : body
  const allHeaders = {
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    // Node.js omits Content-Length for methods that usually have no body. The server would parse the body as the next
    // request.
    ...(text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
    accept: '*/*',
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers: allHeaders, agent })
    outgoing.once('response', (reply) => {
      const parts: Buffer[] = []
      reply.on('data', (part: Buffer) => parts.push(part))
      reply.once('error', reject)
      reply.once('end', () => {
        const { statusCode = 0, headers: known, rawHeaders } = reply
        resolve({ status: statusCode, type: known['content-type'] ?? '', raw: rawHeaders, bytes: Buffer.concat(parts) })
      })
    })
    outgoing.once('error', reject)
    outgoing.end(text)
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
