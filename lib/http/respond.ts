import { ServerResponse } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import { Problem, problem } from '../common/problem.js'
import { isPromise } from '../common/promise.js'
import { type OnError, reportError } from '../common/report.js'
import type { ResponseWriter } from '../handle.js'
import { hasTag } from '../parse/match.js'
import { type BodyContent, type Format, selectFormat } from './formats.js'
import { applyFormat } from './hostFormat.js'
import type { ReadJsonSettings } from './jsonHost.js'
import { EXPOSE_HEADER, exposeHeaders, type OutgoingResponse, setHeaders } from './outgoing.js'

/** The settings that all responses of a resource's handlers share. */
export interface ResponseSettings {
  readonly onError: OnError
  readonly formats: readonly Format[]
  /** Whether the package itself reads the body. If so, the host's `format` is not applied. */
  readonly isInternal?: true
}

/** Sends the response to a call. */
export class CallResponse<O extends OutgoingResponse> implements ResponseWriter {
  readonly #call: Call
  readonly #out: O
  readonly #readJsonSettings: ReadJsonSettings<O>
  readonly #settings: ResponseSettings

  constructor(call: Call, out: O, jsonOf: ReadJsonSettings<O>, answering: ResponseSettings) {
    this.#call = call
    this.#out = out
    this.#readJsonSettings = jsonOf
    this.#settings = answering
  }

  get status(): number {
    return this.#out.statusCode
  }

  /** Sends a reply, unless the host has already responded. */
  reply({
    status,
    headers,
    content,
    isAlwaysSent = false,
    responseBytes: limit = Infinity,
    format: formatBy,
  }: Reply): void | Promise<void> {
    const out = this.#out
    const call = this.#call
    if (out.headersSent) return
    // A length that the host has set is the length of another body. After a removal, Node sends even no body in chunks.
    if (out.hasHeader('Content-Length')) out.removeHeader('Content-Length')
    const format = content.kind === 'nothing' ? null : selectFormat(this.#settings.formats, call, content)
    const own = content.kind === 'nothing' ? undefined : format?.headers?.(content)
    const before = new Map([[EXPOSE_HEADER, out.getHeader(EXPOSE_HEADER)]])
    for (const name in headers) before.set(name, out.getHeader(name))
    setHeaders(out, headers)
    if (own !== undefined) {
      for (const name in own) if (!before.has(name)) before.set(name, out.getHeader(name))
      setHeaders(out, own)
    }
    const json = this.#readJsonSettings(call, out, isAlwaysSent)
    exposeHeaders(out, format?.hasEntityTag && json.tagging !== null ? ['ETag'] : [])
    if (!isAlwaysSent && isNotModified(call, status, headers.ETag)) {
      out.statusCode = 304
      out.end()
      return
    }
    out.statusCode = status
    if (content.kind === 'nothing' || format === null) {
      out.end()
      return
    }
    // An error before the first byte removes the headers, so that a problem can be sent.
    const failed = (error: unknown): never => {
      if (!out.headersSent) takeBack(out, before)
      throw error
    }
    try {
      const isOwn = formatBy === undefined || this.#settings.isInternal
      const formatted: BodyContent = isOwn ? content : applyFormat(formatBy, { status, headers, content }, call.request)
      const sending = format.send(out, formatted, { call, json, limit })
      return isPromise(sending) ? sending.catch(failed) : undefined
    } catch (error) {
      return failed(error)
    }
  }

  sendError(error: unknown): void {
    respondError(this.#call.request, this.#out, error, this.#settings.onError)
  }

  rejectClosed(problem: Problem): void {
    this.closeConnection()
    isProblemSent(this.#out, problem)
  }

  closeConnection(): void {
    const { request } = this.#call
    if (request.httpVersionMajor === 1 && !this.#out.headersSent) this.#out.setHeader('Connection', 'close')
  }

  abort(): void {
    abortResponse(this.#out)
  }

  whenClosed(listener: () => void): void {
    this.#out.once('close', listener)
  }
}

/** Restores the headers, except those that problems keep. */
function takeBack(out: OutgoingResponse, before: ReadonlyMap<string, ReturnType<OutgoingResponse['getHeader']>>): void {
  for (const [name, value] of before) {
    if (RETAINED_HEADERS.has(name)) continue
    if (value === undefined) out.removeHeader(name)
    else out.setHeader(name, value)
  }
}

/** The headers that problems keep. */
const RETAINED_HEADERS: ReadonlySet<string> = new Set(['Vary', 'Cache-Control'])

/**
 * Whether the client already has this version (RFC 9110, section 13.1.2). Express does not answer 304 to a request with
 * `Cache-Control: no-cache`, although that directive addresses caches and not the origin.
 */
function isNotModified({ method, headers }: Call, status: number, tag: string | undefined): boolean {
  const known = headers['if-none-match']
  if (tag === undefined || known === undefined || status !== 200) return false
  if (method !== 'GET' && method !== 'HEAD') return false
  return hasTag(tag, known)
}

/** Sends a problem (RFC 9457 section 3). */
export function respondProblem(out: OutgoingResponse, thrown: Problem): void {
  const body = Buffer.from(JSON.stringify(thrown))
  // The host may have set these for the response that failed, which is not sent.
  for (const name of ['Content-Encoding', 'Transfer-Encoding']) out.removeHeader(name)
  for (const [name, value] of Object.entries(thrown.headers)) out.setHeader(name, value)
  exposeHeaders(out)
  out.statusCode = thrown.status
  out.setHeader('Content-Type', 'application/problem+json')
  // A problem repeats input of the client, so browsers must not guess its content type.
  out.setHeader('X-Content-Type-Options', 'nosniff')
  out.setHeader('Content-Length', body.length)
  out.end(body)
}

/**
 * Responds to an error: a Problem unchanged, any other error as a 500 without internals. Errors with a status from 500
 * are reported after the response.
 */
export function respondError(request: Call['request'], out: OutgoingResponse, error: unknown, onError: OnError): void {
  if (out.headersSent && !out.writableEnded) {
    // An incomplete response must not look complete.
    reportError(error, request, onError)
    abortResponse(out)
    return
  }
  const known = error instanceof Problem ? error : null
  const isSent = known !== null && isProblemSent(out, known)
  if (!isSent) isProblemSent(out, problem('internal', { detail: 'An unexpected error occurred.' }))
  if (!isSent || known.status >= 500) reportError(error, request, onError)
}

/**
 * Sends a problem. Returns false if sending fails: a Problem of the host may have invalid headers, or errors that are
 * not JSON.
 */
function isProblemSent(out: OutgoingResponse, thrown: Problem): boolean {
  try {
    // A response that the host has sent stays.
    if (!out.headersSent) respondProblem(out, thrown)
    return true
  } catch {
    return false
  }
}

/**
 * Ends an incomplete response after its headers. In HTTP/1.0, closing the connection is also the normal end of a
 * response without a length. A reset of the socket shows the client that the response is incomplete. TLS sockets cannot
 * be reset.
 */
function abortResponse(out: OutgoingResponse): void {
  if (out instanceof ServerResponse) {
    const { socket, req } = out
    // On Bun, sockets without TLS also have the member `encrypted`, with the value false.
    const isTcp = socket?.remoteAddress !== undefined && Reflect.get(socket, 'encrypted') !== true
    if (isTcp && req.httpVersionMajor === 1 && req.httpVersionMinor === 0) socket.resetAndDestroy()
  }
  out.destroy()
}
