import { subscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import { asTables } from './tables.js'

/** What each request gets later: from Express, from those who read its body, and, as a stream, with its first listener. */
type Later =
  | ('res' | 'next' | 'baseUrl' | 'originalUrl' | '_parsedUrl' | 'params' | 'route' | 'body' | '_body')
  | '_eventsCount'

/** What Express 4 puts on requests beside that, and those who read bodies for it. */
const OF_EXPRESS_4 = ['query', 'length'] as const

type Other = (typeof OF_EXPRESS_4)[number] | symbol

type Begun = IncomingMessage & { [member in Later | Other]?: unknown }

/**
 * What is remembered of a server: paths, how long each may be, and how many numbers of segments they may have. A mount path with
 * parameters is another one for each value that a client thinks of.
 */
const MOST = { paths: 1000, characters: 200, lengths: 10 }

/** How many members a request and its response have when they begin. */
interface Counts {
  readonly request: number
  readonly response: number
}

/**
 * What requests to a path begin with: all members that they will get, where there are no others; else the prototypes that they will
 * get, as tables; or what Node gives them.
 */
type Start = 'members' | 'prototypes' | 'nothing'

/** The application that a server hands all of its requests to. */
type Sole = RequestListener & { readonly request: IncomingMessage; readonly response: ServerResponse }

/** What is known of the requests to one server. */
class Foresight {
  readonly app: object
  readonly #others: readonly Other[]
  /** Paths as far as they are fixed. */
  readonly #paths = new Map<string, Start>()
  /** The numbers of segments that these paths have. */
  readonly #lengths: number[] = []
  #counts: Counts | null = null

  constructor(app: object, others: readonly Other[]) {
    this.app = app
    this.#others = others
  }

  /** The path that a URL is at or below, of those that are known. */
  pathIn(url: string): string | null {
    const query = url.indexOf('?')
    const path = query < 0 ? url : url.slice(0, query)
    for (const length of this.#lengths) {
      const first = beginningOf(path, length)
      if (this.#paths.has(first)) return first
    }
    return null
  }

  startOf(path: string): Start {
    return this.#paths.get(path) ?? 'nothing'
  }

  set(path: string, start: Start): void {
    const length = path.split('/').length - 1
    const isNew = !this.#paths.has(path)
    if (isNew && (this.#paths.size >= MOST.paths || path.length > MOST.characters)) return
    if (!this.#lengths.includes(length)) {
      if (this.#lengths.length >= MOST.lengths) return
      this.#lengths.push(length)
    }
    this.#paths.set(path, start)
  }

  /** Whether the application says by its prototypes what else its requests get. */
  isSaidBy({ request }: Sole): boolean {
    return this.#others.some((other) => other in request)
  }

  /** Gives them what they would get later; false, and nothing, where some of it is there. */
  begin(request: Begun, response: ServerResponse & { locals?: unknown }): boolean {
    if (!isBare(request) || 'locals' in response || this.#others.some((other) => other in request)) return false
    const { _eventsCount } = request
    const { statusCode, statusMessage } = response
    request.res = undefined
    request.next = undefined
    request.baseUrl = undefined
    request.originalUrl = undefined
    request._parsedUrl = undefined
    request.params = undefined
    request.route = undefined
    request.body = undefined
    request._body = undefined
    if (typeof _eventsCount === 'number') request._eventsCount = _eventsCount
    for (const other of this.#others) request[other] = undefined
    response.locals = undefined
    response.statusCode = statusCode
    response.statusMessage = statusMessage
    this.#counts ??= { request: Object.keys(request).length, response: Object.keys(response).length }
    return true
  }

  /** Whether they have the members with which they began, and no others. */
  isAsBegun(req: Request, res: Response): boolean {
    if (this.#counts === null) return false
    const { request, response } = this.#counts
    return Object.keys(res).length === response && Object.keys(req).length === request
  }
}

function beginningOf(path: string, segments: number): string {
  let end = 0
  for (let left = segments; left > 0 && end >= 0; left -= 1) end = path.indexOf('/', end + 1)
  return end < 0 ? path : path.slice(0, end)
}

const servers = new WeakMap<object, Foresight>()

/** Requests that no server made, as tests and gateways have them, may be without a socket. */
function serverOf({ socket }: Request): object | null {
  const server: unknown = Object(socket).server
  return typeof server === 'object' ? server : null
}

/** Before it comes to its first router a request has only the one. */
function urlOf({ originalUrl, url }: Request): string {
  return originalUrl || url
}

/** Whether a request and its response have had from the start all that they have. */
export function isForeseen(req: Request, res: Response): boolean {
  const server = serverOf(req)
  const known = server === null ? undefined : servers.get(server)
  const path = known?.pathIn(urlOf(req)) ?? null
  return known !== undefined && path !== null && known.startOf(path) === 'members' && known.isAsBegun(req, res)
}

/**
 * Learns from a request that has come to a handler: those that come to the same server and path from now on get the members that
 * this one has got from Express before anybody sees them. Then it is still of the shape that all have, and what Express does
 * with its prototype, and each member behind that, leaves it so. Where somebody else puts members on them as well, they get the
 * prototypes of the application before it has them. All of that only where the application is the only one that has the
 * requests of its server, and has no say about these members by its prototypes, and Node's own classes make the requests.
 */
export function foresee(req: Request, res: Response): void {
  const server = serverOf(req)
  // A request that was made up by a call has its members by another one.
  if (server === null || !Object.hasOwn(req, 'complete')) return
  const known = servers.get(server)
  const path = known?.pathIn(urlOf(req)) ?? null
  if (known === undefined || path === null) learn(server, known, req)
  // What was under way when the path was learnt has no status of its own yet.
  else if (Object.hasOwn(res, 'statusMessage') && known.startOf(path) === 'members' && !known.isAsBegun(req, res))
    known.set(path, hasOwnQuery(req) ? 'nothing' : 'prototypes')
}

/** A query of its own beside one by a prototype is the host's doing, in either version of Express. */
function hasOwnQuery(req: Request): boolean {
  return Object.hasOwn(req, 'query') && 'query' in Object.getPrototypeOf(req)
}

/** Null where a server has other listeners, who may rely on requests as Node makes them. */
function soleOf(server: object): Sole | null {
  if (!(server instanceof EventEmitter) || OTHER_REQUESTS.some((event) => server.listenerCount(event) > 0)) return null
  const [only, ...others] = server.listeners('request')
  return others.length === 0 && isApplication(only) ? only : null
}

/** The events of requests that ask first. */
const OTHER_REQUESTS = ['checkContinue', 'checkExpectation']

function isApplication(listener: unknown): listener is Sole {
  const { request, response } = Object(listener)
  return typeof listener === 'function' && request instanceof IncomingMessage && response instanceof ServerResponse
}

function learn(server: object, known: Foresight | undefined, req: Request): void {
  const { app }: { readonly app: object } = req
  const sole = soleOf(server)
  if (sole === null || sole !== app || (known !== undefined && known.app !== app)) return
  const { path = '' } = req.route ?? {}
  // No more than a key may follow: what is below a path with a parameter may be others'.
  const [, fixed = ''] = /^((?:\/[\w.~-]+)+)(?:\/:\w+)?\/?$/.exec(`${req.baseUrl}${path}`) ?? []
  if (fixed === '' || beginningOf(urlOf(req).split('?', 1)[0] ?? '', fixed.split('/').length - 1) !== fixed) return
  const foresight = known ?? new Foresight(app, othersOf(req))
  foresight.set(fixed, isFree(sole) && isOfNodeAlone(sole) && !hasOwnQuery(req) ? 'members' : 'nothing')
  servers.set(server, foresight)
  listen()
}

/** By their descriptions, as each copy of a router has a symbol of its own. */
function othersOf(req: Request): readonly Other[] {
  const symbols = Object.getOwnPropertySymbols(req).filter(({ description }) => description?.startsWith('router.'))
  // Express 5 has a getter in its place, which some hosts pass over by a member of their own.
  const isOfExpress4 = Object.hasOwn(req, 'query') && !OF_EXPRESS_4.some((name) => name in Object.getPrototypeOf(req))
  return isOfExpress4 ? [...OF_EXPRESS_4, ...symbols] : symbols
}

/** Whether nothing of what a request gets later is there, neither its own nor by a prototype. Written out, as it is asked of each. */
function isBare(request: object): boolean {
  return !(
    'res' in request ||
    'next' in request ||
    'baseUrl' in request ||
    'originalUrl' in request ||
    '_parsedUrl' in request ||
    'params' in request ||
    'route' in request ||
    'body' in request ||
    '_body' in request
  )
}

/** Whether an application has no say, by its prototypes, about what its requests and responses get. */
function isFree({ request, response }: Sole): boolean {
  const { statusCode, statusMessage } = response
  return (
    isBare(request) &&
    !('locals' in response) &&
    statusCode === STATUS.statusCode &&
    statusMessage === STATUS.statusMessage
  )
}

const { statusCode, statusMessage } = ServerResponse.prototype
const STATUS = { statusCode, statusMessage }

/** Whether the status that responses begin with is a value of Node's, and no accessor. */
function isOfNodeAlone({ response }: Sole): boolean {
  return Object.keys(STATUS).every((name) => {
    let from: object | null = response
    while (from !== null && !Object.hasOwn(from, name)) from = Object.getPrototypeOf(from)
    return from === ServerResponse.prototype && Object.getOwnPropertyDescriptor(from, name)?.writable === true
  })
}

let isListening = false

/** Node tells of each request before its server does. */
function listen(): void {
  if (isListening) return
  isListening = true
  subscribe('http.server.request.start', (message) => {
    const { request, response, server } = Object(message)
    const known = servers.get(server)
    const path = known?.pathIn(request.url) ?? null
    if (known === undefined || path === null) return
    try {
      start(server, known, path, { request, response })
    } catch {
      // Somebody has put accessors where there were none. What is thrown here would end the process.
      known.set(path, 'nothing')
    }
  })
}

interface Pair {
  readonly request: Begun
  readonly response: ServerResponse
}

function start(server: object, known: Foresight, path: string, { request, response }: Pair): void {
  const how = known.startOf(path)
  if (how === 'nothing' || !isOfNode(request, response)) return
  const app = soleOf(server)
  if (app === null || app !== known.app) return
  if (!isFree(app) || known.isSaidBy(app)) {
    known.set(path, 'nothing')
    return
  }
  if (how === 'members') {
    if (!known.begin(request, response)) known.set(path, 'nothing')
    return
  }
  // As the application will do. Of what has its prototype already, and is a table, nothing that follows makes another shape.
  Object.setPrototypeOf(request, app.request)
  Object.setPrototypeOf(response, app.response)
  asTables(request, response)
}

/** Whether no class of the host's has made them. */
function isOfNode(request: IncomingMessage, response: ServerResponse): boolean {
  return (
    Object.getPrototypeOf(request) === IncomingMessage.prototype &&
    Object.getPrototypeOf(response) === ServerResponse.prototype
  )
}
