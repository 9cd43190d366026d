import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import express, { type Request, type RequestHandler, type Response } from 'express'
import type { OperationName, Resource } from '../../types/resource.js'
import { inOrder } from '../common/inOrder.js'
import { problem } from '../common/problem.js'
import type { Served } from '../handler.js'

export type Handlers = Readonly<Record<OperationName, RequestHandler>>

/** What is told to the handlers of calls that come by another way than the resource's routes. */
export type Told = Pick<Served, 'identify' | 'within'>

/** How a resource is reached by its own routes: what runs first, and the handlers behind that. */
export interface Way {
  readonly first: readonly RequestHandler[]
  readonly handlers: (told: Told) => Handlers
}

const ways = new WeakMap<Resource, Way>()

export function keepWay(resource: Resource, way: Way): void {
  ways.set(resource, way)
}

/** @throws TypeError for a resource that no router or controller was made of */
export function wayInto(resource: Resource): Way {
  const way = ways.get(resource)
  if (way === undefined) throw new TypeError(`${resource.name} has neither a router nor a controller`)
  return way
}

/** A request that never was on a wire: as if it had been sent to the resource's own route. */
export interface Call {
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

/** The answer to it, as it would have stood on the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** @throws Error what the host's handlers hand on, and an answer that breaks off */
export function send(call: Call, handlers: readonly RequestHandler[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = requestFor(call)
    const res = new ServerResponse<Request>(req) as Response
    Object.setPrototypeOf(res, Reflect.get(req.app, 'response'))
    res.locals = { ...call.request?.res?.locals }
    define(req, { res })
    define(res, { req })
    const chunks: Buffer[] = []
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        chunks.push(chunk)
        done()
      },
    })
    sink.once('close', () => reject(new Error('the answer broke off')))
    res.once('finish', () => {
      const whole = Buffer.concat(chunks)
      const text = whole.subarray(whole.indexOf(HEAD_END) + HEAD_END.length).toString()
      resolve({ status: res.statusCode, headers: res.getHeaders(), text })
    })
    // It takes what is written and ends; nothing else of a socket is asked for.
    res.assignSocket(sink as Writable & Socket)
    inOrder(handlers)(req, res, (error?: unknown) => {
      const isLeft = error === undefined || error === null || error === 'route' || error === 'router'
      reject(isLeft ? problem('not-found') : error)
    })
  })
}

const HEAD_END = '\r\n\r\n'

/** What is about the message that brought the call, and not about its sender. */
const OF_MESSAGE =
  /^(?:content-.*|if-.*|accept.*|prefer|range|te|trailer|transfer-encoding|connection|expect|upgrade|idempotency-key)$/

function requestFor({ request, method, url, key, headers, body }: Call): Request {
  const base = request ?? nobodys()
  const kept = Object.entries(base.headers).filter(([name]) => !OF_MESSAGE.test(name))
  const text = body === undefined ? null : JSON.stringify(body)
  const content =
    text === null ? {} : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }
  const req: Request = Object.create(base)
  define(req, {
    method,
    url,
    originalUrl: url,
    baseUrl: '',
    headers: { ...Object.fromEntries(kept), accept: 'application/json', ...content, ...headers },
    params: { ...base.params, ...(key === null ? {} : { id: key }) },
    query: Object.fromEntries(new URLSearchParams(url.split('?')[1] ?? '')),
    // HTTP/1.0 has no chunks: what is written is the body.
    httpVersion: '1.0',
    httpVersionMajor: 1,
    httpVersionMinor: 0,
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
