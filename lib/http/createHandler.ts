import { type IncomingMessage, type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http'
import { PassThrough, type Readable, type TransformCallback } from 'node:stream'
import type { Request } from 'express'
import type { Model, ModelStatic } from 'sequelize'
import type { OptionsWithComputed } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { toOriginForm } from '../common/requestTarget.js'
import { compile, type EntryPoint } from '../compile/index.js'
import { createOwnRoutes } from '../ownRoutes.js'
import { methodNames } from '../parse/methods.js'
import { createClose } from '../push/close.js'
import { createNotifier } from '../push/notifier.js'
import { HostCall, type ReceivedMembers } from './call.js'
import { FORMATS, formatNames } from './formats.js'
import {
  type CallHandler,
  createActionCallHandler,
  createCallHandler,
  createMethodNotAllowedHandler,
} from './handlers.js'
import { setLeadingHandlers } from './internalCall.js'
import { readPlainJsonSettings } from './jsonHost.js'
import { IMPOSSIBLE_KEY } from './malformedPath.js'
import { createNestedCallHandler } from './nested.js'
import type { OutgoingResponse } from './outgoing.js'
import { type Path, pathsOf } from './paths.js'
import { mountAndPublish } from './publishMount.js'
import { CallResponse } from './respond.js'
import type { Mounted, Written } from './router.js'

/** Options of one request. */
export interface HandlerRequest {
  /** The path and query, if the host mounts the handler below another path. Default: the request's own URL. */
  readonly url?: string
  /** The body, if the host has read it. Strings and buffers are parsed. Default: the body is read from the request. */
  readonly body?: unknown
  /** The signal that the client has disconnected. It stops reads, and queued writes do not start. */
  readonly signal?: AbortSignal
}

/** A response for the host to send. Problems are responses as well. */
export interface HandlerReply {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  /**
   * The body as a stream, which is destroyed if the response fails midway. The host destroys the stream to stop the
   * reads for the response.
   */
  readonly body: Readable
}

/** A resource without a web framework. */
export interface CrudHandler<M extends Model = Model, O = object> extends Mounted<M, O> {
  /**
   * Handles a request. Resolves to null if the path belongs to no route of the resource. Policies, hooks and `onError` receive this request
   * object.
   */
  readonly handle: (request: IncomingMessage, more?: HandlerRequest) => Promise<HandlerReply | null>
}

/**
 * Creates the JSON REST API of a model for servers other than Express. The API handles requests of a Node server and
 * returns status, headers and body.
 *
 * @throws CrudConfigError for wrong options, with a stable code, and for `use` and `configure`, which require Express
 */
export function createHandler<M extends Model, const O extends OptionsWithComputed<NoInfer<M>> = object>(
  model: ModelStatic<M>,
  options?: Written<M, O>,
): CrudHandler<M, O> {
  const resource = compile<M>(model, options, HANDLER)
  const find = createRouteFinder(resource)
  const names = formatNames(FORMATS)
  setLeadingHandlers(resource, [])
  mountAndPublish('createHandler', resource)
  return Object.freeze({
    resource,
    notify: createNotifier(resource),
    close: createClose(resource),
    ...createOwnRoutes(resource, resource.operationTable),
    handle: async (request: IncomingMessage, { url, body, signal }: HandlerRequest = {}) => {
      const { method = 'GET', headers } = request
      const target = toOriginForm(url ?? request.url ?? '/')
      const found = find(method, target)
      if (found === null) return null
      const { params, handle } = found
      const out = new CollectedResponse(method)
      const call = new HandlerCall(request as Request, out, names, {
        method,
        headers,
        params,
        url: target,
        originalUrl: target,
      })
      if (body !== undefined) call.givenBody = body
      const disconnect = (): void => void out.destroy()
      if (signal?.aborted) disconnect()
      signal?.addEventListener('abort', disconnect, { once: true })
      out.once('close', () => signal?.removeEventListener('abort', disconnect))
      const response = new CallResponse(call, out, readPlainJsonSettings, {
        onError: resource.onError,
        formats: FORMATS,
      })
      await Promise.race([out.headersReady, handle(call, response)])
      return { status: out.statusCode, headers: out.headers(), body: out }
    },
  })
}

const HANDLER: EntryPoint = {
  name: 'createHandler',
  unsupported: { use: 'it does not run Express handlers', configure: 'it creates no router' },
}

class HandlerCall extends HostCall {
  /** The body, if the host has parsed it. */
  givenBody: unknown

  override get body(): unknown {
    return this.givenBody === undefined ? super.body : this.givenBody
  }

  override get isParsed(): boolean {
    return this.givenBody !== undefined || super.isParsed
  }
}

interface FoundRoute {
  readonly params: ReceivedMembers['params']
  readonly handle: CallHandler
}

/** Returns a function that finds the route of a request. */
function createRouteFinder(resource: Resource): (method: string, target: string) => FoundRoute | null {
  const base = resource.route === '/' ? [] : splitSegments(resource.route)
  const own = pathsOf(resource).map((path) => ({
    words: splitSegments(path.path),
    choose: createMethodChooser(resource, path),
  }))
  const nested = resource.nested.flatMap(({ json: relation, items }) =>
    (items ? [false, true] : [false]).map((item) => {
      const answer = createNestedCallHandler({ resource, relation, isItem: item }, FORMATS)
      const record = resource.behaviours.ownKey === null ? [':id'] : []
      return { words: [...record, relation, ...(item ? [':key'] : [])], choose: () => answer }
    }),
  )
  const routes = [...own, ...nested].map(({ words, choose }) => ({ words: [...base, ...words], choose }))
  return (method, target) => {
    const words = splitSegments(target.split('?', 1)[0] ?? '')
    for (const { words: pattern, choose } of routes) {
      const params = matchParameters(pattern, words)
      const answer = params && choose(method)
      if (params && answer) return { params, handle: answer }
    }
    return null
  }
}

/** Returns a function that finds the handler of a method; null if a later path handles the method. */
function createMethodChooser(
  resource: Resource,
  { operations, action, methods, laterMethods }: Path,
): (method: string) => CallHandler | null {
  const answerers = new Map<string, CallHandler>()
  for (const row of operations) {
    const answer = createCallHandler(resource, row, FORMATS)
    for (const name of methodNames([row[1].method, ...(row[1].queried ? ['query' as const] : [])])) {
      if (!answerers.has(name)) answerers.set(name, answer)
    }
  }
  if (action !== undefined) {
    const answer = createActionCallHandler(resource, action)
    for (const name of methodNames([action.method])) answerers.set(name, answer)
  }
  const later = new Set(methodNames(laterMethods))
  const other = createMethodNotAllowedHandler(resource, [...methods, ...laterMethods])
  return (method) => answerers.get(method) ?? (later.has(method) ? null : other)
}

/** Splits a path into segments, without an empty segment for a trailing slash. */
function splitSegments(path: string): readonly string[] {
  const [, ...words] = path.replace(/\/$/, '').split('/')
  return words
}

/** Returns the parameters of a path that matches a pattern, ignoring case. Null if the path does not match. */
function matchParameters(pattern: readonly string[], words: readonly string[]): Record<string, string> | null {
  if (pattern.length !== words.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const word = words[index] ?? ''
    if (part.startsWith(':') && word !== '') params[part.slice(1)] = decodeSegment(word)
    else if (part.toLowerCase() !== word.toLowerCase()) return null
  }
  return params
}

function decodeSegment(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return IMPOSSIBLE_KEY
  }
}

/** The statuses without a body and without `Content-Length` (RFC 9110, sections 8.6 and 15.4.5). */
const BODILESS: ReadonlySet<number> = new Set([204, 304])

/** A response that is collected for the host, whose own server sends it. */
class CollectedResponse extends PassThrough implements OutgoingResponse {
  statusCode = 200
  headersSent = false
  /** Resolved as soon as status and headers are final. */
  readonly headersReady: Promise<void>
  readonly #headers = new Map<string, readonly [name: string, value: number | string | readonly string[]]>()
  readonly #resolveHeaders: () => void
  readonly #isHead: boolean

  constructor(method: string) {
    super()
    this.#isHead = method === 'HEAD'
    const { promise, resolve } = createResolvers()
    this.headersReady = promise
    this.#resolveHeaders = resolve
  }

  headers(): OutgoingHttpHeaders {
    return Object.fromEntries(
      [...this.#headers.values()].map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
    )
  }

  getHeader(name: string): number | string | readonly string[] | undefined {
    return this.#headers.get(name.toLowerCase())?.[1]
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  setHeader(name: string, value: number | string | readonly string[]): void {
    validateHeaderName(name)
    for (const each of [value].flat()) validateHeaderValue(name, String(each))
    this.#headers.set(name.toLowerCase(), [name, value])
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase())
  }

  override _transform(chunk: unknown, _encoding: string, done: TransformCallback): void {
    this.#sendHead()
    done(null, chunk)
  }

  override _flush(done: TransformCallback): void {
    if (!this.headersSent && !this.#isHead && !BODILESS.has(this.statusCode) && !this.hasHeader('Content-Length')) {
      this.setHeader('Content-Length', 0)
    }
    this.#sendHead()
    done()
  }

  #sendHead(): void {
    this.headersSent = true
    this.#resolveHeaders()
  }
}

function createResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
