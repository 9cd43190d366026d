// Converts between Node.js requests, which Express uses, and the Fetch API of the MCP SDK.

import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Request, Response } from '../../types/express.js'
import { internalError } from '../common/internalError.js'
import { HostCall, hasParsedBody } from '../http/call.js'
import { bodyProblem } from '../parse/body.js'

/**
 * Creates the function that answers MCP messages. Each request has its own protocol server, so no state is kept between
 * requests.
 */
export function createHttpService(
  serverFor: (request: Request) => Server,
  maxRequestBodySize: number,
): (req: Request, res: Response) => Promise<void> {
  const requests = new WeakMap<globalThis.Request, Request>()
  const current: McpHttpHandler = createMcpHandler(
    ({ requestInfo }) => {
      const request = requestInfo === undefined ? undefined : requests.get(requestInfo)
      if (request === undefined) throw internalError('a message of the Model Context Protocol has no HTTP request')
      return serverFor(request)
    },
    { legacy: 'reject', maxRequestBodySize },
  )

  return async (req, res) => {
    const parsedBody: unknown = hasParsedBody(req) ? req.body : undefined
    if (parsedBody === undefined) await readText(req, res, maxRequestBodySize)
    const request = toFetchRequest(req, res, parsedBody === undefined ? String(req.body) : null)
    requests.set(request, req)
    const isEarlier = await isLegacyRequest(request, parsedBody, { maxRequestBodySize })
    const answer = isEarlier
      ? await answerEarlier(serverFor(req), request, { parsedBody, maxRequestBodySize })
      : await current.fetch(request, { parsedBody })
    await sendFetchResponse(answer, res)
  }
}

/** Reads the request body with the limits and errors of the HTTP routes. @throws Problem 400, 413, 415 */
async function readText(req: Request, res: Response, limit: number): Promise<void> {
  try {
    await new HostCall(req, res, []).readBody('text', limit)
  } catch (error) {
    throw bodyProblem(error, limit) ?? error
  }
}

/**
 * Answers a message of protocol versions before 2026-07-28 with JSON. The SDK would open an event stream for each
 * message.
 */
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

/**
 * Builds the Fetch request. The request is aborted when the client disconnects. `body` is null if the body was already
 * parsed.
 */
function toFetchRequest(req: Request, res: Response, body: string | null): globalThis.Request {
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(req.headers)) {
    for (const each of [value].flat()) headers.append(name, each)
  }
  const disconnected = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) disconnected.abort()
  })
  // The SDK reads only the headers and the body, so any URL works.
  return new Request('http://localhost/', { method: 'POST', headers, body, signal: disconnected.signal })
}

/**
 * Sends a response as a whole. Event streams end by themselves, because the handler has no subscriptions: the list of
 * tools never changes.
 */
async function sendFetchResponse(answer: globalThis.Response, res: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  if (res.destroyed) return
  answer.headers.forEach((value, name) => {
    // Node.js sets `Connection` itself.
    if (name !== 'connection') res.setHeader(name, value)
  })
  res.statusCode = answer.status
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
