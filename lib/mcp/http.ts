// The protocol's library serves requests of the Fetch standard. Express has those of Node.

import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Request, Response } from '../../types/express.js'
import { HostCall, isParsedBy } from '../http/call.js'
import { bodyProblem } from '../parse/body.js'

/** Answers the messages of requests, by a server for each of them: nothing is kept between two requests. */
export function httpService(
  serverFor: (request: Request) => Server,
  maxRequestBodySize: number,
): (req: Request, res: Response) => Promise<void> {
  const requests = new WeakMap<globalThis.Request, Request>()
  const current: McpHttpHandler = createMcpHandler(
    ({ requestInfo }) => {
      const request = requestInfo === undefined ? undefined : requests.get(requestInfo)
      if (request === undefined) throw new TypeError('a message came without its request')
      return serverFor(request)
    },
    { legacy: 'reject', maxRequestBodySize },
  )

  return async (req, res) => {
    const parsedBody: unknown = isParsedBy(req) ? req.body : undefined
    if (parsedBody === undefined) await readText(req, res, maxRequestBodySize)
    const request = requestOf(req, res, parsedBody === undefined ? String(req.body) : null)
    requests.set(request, req)
    const isEarlier = await isLegacyRequest(request, parsedBody, { maxRequestBodySize })
    const answer = isEarlier
      ? await answerEarlier(serverFor(req), request, { parsedBody, maxRequestBodySize })
      : await current.fetch(request, { parsedBody })
    await send(answer, res)
  }
}

/** Reads a body as those of routes are read. @throws Problem 400, 413, 415 */
async function readText(req: Request, res: Response, limit: number): Promise<void> {
  try {
    await new HostCall(req, res, []).read('text', limit)
  } catch (error) {
    throw bodyProblem(error, limit) ?? error
  }
}

/** Answers a message of the revisions before 2026-07-28, in JSON: the library itself would open a stream of events for each. */
async function answerEarlier(
  server: Server,
  request: globalThis.Request,
  { parsedBody, maxRequestBodySize }: { readonly parsedBody: unknown; readonly maxRequestBodySize: number },
): Promise<globalThis.Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize })
  try {
    await server.connect(transport)
    return await transport.handleRequest(request, { parsedBody })
  } finally {
    await server.close()
  }
}

/** The request is aborted when its client disconnects. `body` is null for a body that has been parsed. */
function requestOf(req: Request, res: Response, body: string | null): globalThis.Request {
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(req.headers)) {
    for (const each of [value].flat()) headers.append(name, each)
  }
  const disconnected = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort()
  })
  // Only its headers and its body are read.
  return new Request('http://localhost/', { method: 'POST', headers, body, signal: disconnected.signal })
}

/** Sends an answer as a whole. Streams of events end by themselves: tools never change, so there is nothing to subscribe to. */
async function send(answer: globalThis.Response, res: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  if (res.destroyed) return
  answer.headers.forEach((value, name) => {
    // The connection is Node's own affair.
    if (name !== 'connection') res.setHeader(name, value)
  })
  res.statusCode = answer.status
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
