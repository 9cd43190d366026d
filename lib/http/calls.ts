import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request, type RequestHandler, type Response } from 'express'
import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { problem } from '../common/problem.js'
import { problemIn } from '../common/problemIn.js'
import type { Outlet } from '../handle.js'
import { HostCall } from './call.js'
import { FORMATS } from './formats.js'
import { inOrder } from './inOrder.js'
import { expressJson } from './jsonHost.js'
import { Answer } from './respond.js'

const firsts = new WeakMap<Resource, readonly RequestHandler[]>()

export function keepFirst(resource: Resource, first: readonly RequestHandler[]): void {
  firsts.set(resource, first)
}

/** The host's handlers in front of the routes of a resource. @throws TypeError if the resource has neither a router nor a controller */
export function firstOf(resource: Resource): readonly RequestHandler[] {
  const first = firsts.get(resource)
  if (first === undefined) throw new TypeError(`${resource.name} has neither a router nor a controller`)
  return first
}

/** A call that never was on a wire: as if it had been sent to the resource's own route. */
export interface Message {
  /** In whose name it is made: what the host's code has put into that one is found here as well. Null for nobody's. */
  readonly request: Request | null
  readonly method: string
  /** The path as the resource's router knows it, and the query. */
  readonly url: string
  /** The key of the record; null for none. */
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for none. */
  readonly body?: unknown
}

/**
 * The reply that `answer` gives to a message, behind what the host runs in front of the resource's routes.
 *
 * @throws Problem what it is refused with; whatever the host's handlers hand on
 */
export async function replyBehind(
  resource: Resource,
  message: Message,
  answer: (call: Call, outlet: Outlet) => Promise<unknown>,
): Promise<Reply> {
  const request = requestFor(message)
  const res = new ServerResponse<Request>(request) as Response
  Object.setPrototypeOf(res, Reflect.get(request.app, 'response'))
  res.locals = { ...message.request?.res?.locals }
  define(request, { res })
  const text = captured(res, request)
  const call = new HostCall(request, res, [])
  const outlet = new Answer(call, res, expressJson, { onError: resource.onError, formats: FORMATS, isInternal: true })
  await new Promise<void>((resolve, reject) => {
    res.once('finish', resolve)
    res.once('close', () => reject(new Error('the answer broke off')))
    inOrder([...firstOf(resource), () => answer(call, outlet)])(request, res, (error?: unknown) => {
      const isLeft = error === undefined || error === null || error === 'route' || error === 'router'
      reject(isLeft ? problem('not-found') : error)
    })
  })
  return replyIn(res, text())
}

/** Has a response without a connection keep what is written to it. */
function captured(res: Response, req: Request): () => string {
  const chunks: Buffer[] = []
  const { end } = res
  const take = (chunk: unknown, encoding: unknown): void => {
    if (!res.headersSent) res.writeHead(res.statusCode)
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding === 'latin1' ? encoding : 'utf8'))
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }
  define(res, {
    req,
    write: (chunk: unknown, encoding: unknown) => {
      take(chunk, encoding)
      return true
    },
    end: (chunk: unknown, encoding: unknown) => {
      if (res.writableEnded) return res
      take(chunk, encoding)
      Reflect.apply(end, res, [])
      process.nextTick(() => res.emit('finish'))
      return res
    },
  })
  return () => Buffer.concat(chunks).toString()
}

/** The reply in a response of the resource, or of a handler in front of it. @throws Problem if the response is not JSON */
function replyIn(res: Response, text: string): Reply {
  const { statusCode: status } = res
  const type = String(res.getHeader('Content-Type') ?? '')
  const isSuccess = status >= 200 && status < 300
  if (!isSuccess || (text !== '' && !type.startsWith('application/json'))) throw problemIn(status, type, text)
  const tag = res.getHeader('ETag')
  const headers: Record<string, string> = tag === undefined ? {} : { ETag: String(tag) }
  return { status, headers, content: text === '' ? { kind: 'nothing' } : { kind: 'document', value: JSON.parse(text) } }
}

const JSON_TYPE = 'application/json'

/** What is about the message that brought the call, and not about its sender. */
const OF_MESSAGE =
  /^(?:content-.*|if-.*|accept.*|prefer|range|te|trailer|transfer-encoding|connection|expect|upgrade|idempotency-key)$/

function requestFor({ request, method, url, key, headers, body }: Message): Request {
  const base = request ?? nobodys()
  const kept = Object.entries(base.headers).filter(([name]) => !OF_MESSAGE.test(name))
  const text = body === undefined ? null : JSON.stringify(body)
  const content = text === null ? {} : { 'content-type': JSON_TYPE, 'content-length': `${Buffer.byteLength(text)}` }
  const req: Request = Object.create(base)
  define(req, {
    method,
    url,
    originalUrl: url,
    baseUrl: '',
    headers: { ...Object.fromEntries(kept), accept: JSON_TYPE, ...content, ...headers },
    params: { ...base.params, ...(key === null ? {} : { id: key }) },
    query: Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? '')),
    body,
    _body: true,
  })
  return req
}

/** Getters of its prototypes stand before what is assigned. */
function define(object: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** What makes requests of an application that none has; made when it is first wanted. */
let nowhere: object | null = null

/** A request that nobody has sent: it has no headers. */
function nobodys(): Request {
  nowhere ??= Object(Reflect.get(express(), 'request'))
  const req = new IncomingMessage(new Socket())
  Object.setPrototypeOf(req, nowhere)
  return req as Request
}
