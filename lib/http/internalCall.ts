import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request, type RequestHandler, type Response } from 'express'
import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { Problem, type ProblemOptions, problem } from '../common/problem.js'
import type { ResponseWriter } from '../handle.js'
import { HostCall } from './call.js'
import { combineHandlers } from './combineHandlers.js'
import { FORMATS } from './formats.js'
import { readExpressJsonSettings } from './jsonHost.js'
import { CallResponse } from './respond.js'

const leadingHandlers = new WeakMap<Resource, readonly RequestHandler[]>()

export function setLeadingHandlers(resource: Resource, first: readonly RequestHandler[]): void {
  leadingHandlers.set(resource, first)
}

/**
 * Returns the host's handlers in front of a resource's routes. @throws TypeError if the resource has neither a router
 * nor a controller
 */
export function leadingHandlersOf(resource: Resource): readonly RequestHandler[] {
  const first = leadingHandlers.get(resource)
  if (first === undefined)
    throw new TypeError(`${resource.name} has no routes: create it by crudRouter or crudController`)
  return first
}

/** An internal call, without a connection, to the resource's own route. */
export interface InternalCall {
  /**
   * The request on whose behalf the call is made. The host's handlers see its properties and its `res.locals`. Null for
   * a call without such a request.
   */
  readonly request: Request | null
  readonly method: string
  /** The path within the resource's router, with the query. */
  readonly url: string
  /** The key of the record; null for a call without a key. */
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
  /** The body; absent for a call without a body. */
  readonly body?: unknown
}

/**
 * Runs the host's handlers in front of the resource's routes and, after them, `answer`. Returns the reply.
 *
 * @throws Problem from the resource, and any error that the host's handlers pass on
 */
export async function callRoute(
  resource: Resource,
  message: InternalCall,
  answer: (call: Call, response: ResponseWriter) => Promise<unknown>,
): Promise<Reply> {
  const request = createRequest(message)
  const res = new ServerResponse<Request>(request) as Response
  Object.setPrototypeOf(res, Reflect.get(request.app, 'response'))
  res.locals = { ...message.request?.res?.locals }
  defineProperties(request, { res })
  const text = captureBody(res, request)
  const call = new HostCall(request, res, [])
  const response = new CallResponse(call, res, readExpressJsonSettings, {
    onError: resource.onError,
    formats: FORMATS,
    isInternal: true,
  })
  await new Promise<void>((resolve, reject) => {
    res.once('finish', resolve)
    res.once('close', () => reject(new Error('the response was closed before its end')))
    combineHandlers([...leadingHandlersOf(resource), () => answer(call, response)])(request, res, (error?: unknown) => {
      const isUnhandled = error === undefined || error === null || error === 'route' || error === 'router'
      reject(isUnhandled ? problem('not-found') : error)
    })
  })
  return readReply(res, text())
}

/** Captures the body of a response without a connection. Returns a function that returns the captured text. */
function captureBody(res: Response, req: Request): () => string {
  const chunks: Buffer[] = []
  const { end } = res
  const collectChunk = (chunk: unknown, encoding: unknown): void => {
    if (!res.headersSent) res.writeHead(res.statusCode)
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding === 'latin1' ? encoding : 'utf8'))
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }
  defineProperties(res, {
    req,
    write: (chunk: unknown, encoding: unknown) => {
      collectChunk(chunk, encoding)
      return true
    },
    end: (chunk: unknown, encoding: unknown) => {
      if (res.writableEnded) return res
      collectChunk(chunk, encoding)
      Reflect.apply(end, res, [])
      process.nextTick(() => res.emit('finish'))
      return res
    },
  })
  return () => Buffer.concat(chunks).toString()
}

/** Reads the reply of the resource, or of a handler in front of it. @throws Problem for an error status or a response that is not JSON */
function readReply(res: Response, text: string): Reply {
  const { statusCode: status } = res
  const type = String(res.getHeader('Content-Type') ?? '')
  const isSuccess = status >= 200 && status < 300
  if (!isSuccess || (text !== '' && !type.startsWith('application/json'))) throw parseProblem(status, type, text)
  const tag = res.getHeader('ETag')
  const headers: Record<string, string> = tag === undefined ? {} : { ETag: String(tag) }
  return { status, headers, content: text === '' ? { kind: 'nothing' } : { kind: 'document', value: JSON.parse(text) } }
}

const JSON_TYPE = 'application/json'

/** Headers that describe a single message. An internal call does not inherit them from its request. */
const MESSAGE_HEADERS =
  /^(?:content-.*|if-.*|accept.*|prefer|range|te|trailer|transfer-encoding|connection|expect|upgrade|idempotency-key)$/

function createRequest({ request, method, url, key, headers, body }: InternalCall): Request {
  const base = request ?? createEmptyRequest()
  const headersToCopy = Object.entries(base.headers).filter(([name]) => !MESSAGE_HEADERS.test(name))
  const text = body === undefined ? null : JSON.stringify(body)
  const content = text === null ? {} : { 'content-type': JSON_TYPE, 'content-length': `${Buffer.byteLength(text)}` }
  const req: Request = Object.create(base)
  defineProperties(req, {
    method,
    url,
    originalUrl: url,
    baseUrl: '',
    headers: { ...Object.fromEntries(headersToCopy), accept: JSON_TYPE, ...content, ...headers },
    params: { ...base.params, ...(key === null ? {} : { id: key }) },
    query: Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? '')),
    body,
    _body: true,
  })
  return req
}

/** Defines own properties, because assignments would call setters of the prototypes. */
function defineProperties(object: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** The request prototype of an Express application that is created only for empty requests, on first use. */
let emptyPrototype: object | null = null

/** Creates an empty request, for calls that are not made on behalf of a request. */
function createEmptyRequest(): Request {
  emptyPrototype ??= Object(Reflect.get(express(), 'request'))
  // The stream has ended, so that body parsers of the host do not wait for a body.
  const req = new IncomingMessage(new Socket({ readable: false }))
  req.complete = true
  req.push(null)
  Object.setPrototypeOf(req, emptyPrototype)
  return req as Request
}

const TEXTS = ['code', 'type', 'title', 'detail'] as const

/**
 * Parses the problem of an error response. Without a problem as body, the status determines the problem. A status that
 * is not an error becomes 403.
 */
function parseProblem(status: number, contentType: string, text: string): Problem {
  const isError = Number.isInteger(status) && status >= 400 && status <= 599
  const body = contentType.startsWith('application/problem+json') ? parseObject(text) : {}
  const texts = TEXTS.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : []))
  const { errors } = body
  const options: ProblemOptions = {
    status: isError ? status : 403,
    ...Object.fromEntries(texts),
    ...(typeof errors === 'object' && errors !== null
      ? { errors: errors as NonNullable<ProblemOptions['errors']> }
      : {}),
  }
  return new Problem(options)
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
