import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request, Response } from 'express'

/** What each request gets later: from Express, from those who read its body, and, as a stream, with its first listener. */
const OF_REQUESTS = [
  ...(['res', 'next', 'baseUrl', 'originalUrl', '_parsedUrl', 'params', 'route', 'body', '_body'] as const),
  '_eventsCount',
] as const

/** The same of its response. */
const OF_RESPONSES = ['locals', 'statusCode', 'statusMessage'] as const

/** What Express 4 puts on requests beside that, and those who read bodies for it. */
const OF_EXPRESS_4 = ['query', 'length'] as const

/** Where the middleware of hosts puts who asks. All that they may put there is left to them: some ask whether it is there already. */
const OF_CALLERS = ['user', 'auth'] as const

type Other = (typeof OF_EXPRESS_4)[number] | (typeof OF_CALLERS)[number] | symbol

type Begun = IncomingMessage & { [member in (typeof OF_REQUESTS)[number] | Other]?: unknown }

/** Paths of a server that are remembered: a mount path with a parameter is another one for each value. */
const MOST_PATHS = 1000

/** How many members a request and its response have when they begin. */
interface Counts {
  readonly request: number
  readonly response: number
}

/** What is known of the requests to one path. */
class Foreseen {
  /** Whether nobody puts more on them than is foreseen. */
  isOpen: boolean
  #others: readonly Other[]
  /** Now, and before there were as many others: what began then may still be under way. */
  readonly #counts: Counts[] = []
  #isCounted = false

  constructor(others: readonly Other[], isOpen: boolean) {
    this.#others = others
    this.isOpen = isOpen
  }

  /** Gives them what they would get later, with the values that they have by their prototypes. */
  begin(request: Begun, response: ServerResponse & { locals?: unknown }): void {
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
    if (this.#isCounted) return
    this.#isCounted = true
    this.#counts.push({ request: Object.keys(request).length, response: Object.keys(response).length })
  }

  /** Whether they have the members with which they began, and no others. */
  isAsBegun(req: Request, res: Response): boolean {
    const request = Object.keys(req).length
    const response = Object.keys(res).length
    return this.#counts.some((counts) => counts.request === request && counts.response === response)
  }

  /** Foresees what else a request has as well, where that is who asks; else it foresees nothing any more. */
  extend(others: readonly Other[]): void {
    const more = others.filter((other) => !this.#others.includes(other))
    this.isOpen = more.length > 0
    this.#others = [...this.#others, ...more]
    this.#isCounted = false
  }
}

/** The paths of one server, as far as they are fixed. */
class Paths {
  readonly #known = new Map<string, Foreseen>()
  /** The numbers of segments that they have. */
  readonly #lengths: number[] = []

  /** Of the path that a URL is at or below. */
  of(url: string): Foreseen | null {
    const query = url.indexOf('?')
    const path = query < 0 ? url : url.slice(0, query)
    for (const length of this.#lengths) {
      const known = this.#known.get(beginningOf(path, length))
      if (known !== undefined) return known
    }
    return null
  }

  add(path: string, foreseen: Foreseen): void {
    if (this.#known.size >= MOST_PATHS) return
    this.#known.set(path, foreseen)
    const length = path.split('/').length - 1
    if (!this.#lengths.includes(length)) this.#lengths.push(length)
  }
}

function beginningOf(path: string, segments: number): string {
  let end = 0
  for (let left = segments; left > 0 && end >= 0; left -= 1) end = path.indexOf('/', end + 1)
  return end < 0 ? path : path.slice(0, end)
}

const servers = new WeakMap<object, Paths>()

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
  const known = (server === null ? undefined : servers.get(server))?.of(urlOf(req)) ?? null
  return known?.isOpen === true && known.isAsBegun(req, res)
}

/**
 * Learns from a request that has come to a handler: those that come to the same server and path from now on get the members that
 * this one has got from Express before anybody sees them. Then it is still of the shape that all have, and what Express does
 * with its prototype, and each member behind that, leaves it so. Where somebody else puts members on them as well, or has
 * a say about these by a prototype, they are left as they are.
 */
export function foresee(req: Request, res: Response): void {
  const server = serverOf(req)
  // A request that was made up by a call has its members by another one.
  if (server === null || !Object.hasOwn(req, 'complete')) return
  const paths = servers.get(server)
  const known = paths?.of(urlOf(req)) ?? null
  if (known === null) learn(server, paths ?? new Paths(), req, res)
  // What was under way when the path was learnt has no status of its own yet.
  else if (Object.hasOwn(res, 'statusMessage') && known.isOpen && !known.isAsBegun(req, res))
    known.extend(othersOf(req))
}

function learn(server: object, paths: Paths, req: Request, res: Response): void {
  const { path = '' } = req.route ?? {}
  const [fixed = ''] = /^(?:\/[\w.~-]+(?=\/|$))*/.exec(`${req.baseUrl}${path}`) ?? []
  const [asked = ''] = urlOf(req).split('?', 1)
  if (fixed === '' || beginningOf(asked, fixed.split('/').length - 1) !== fixed) return
  paths.add(fixed, new Foreseen(othersOf(req), isAssigned(req, OF_REQUESTS) && isAssigned(res, OF_RESPONSES)))
  servers.set(server, paths)
  listen()
}

/** Symbols by their descriptions, as each copy of a router has one of its own. */
function othersOf(req: Request): readonly Other[] {
  const symbols = Object.getOwnPropertySymbols(req).filter(({ description }) => description?.startsWith('router.'))
  return [
    ...(Object.hasOwn(req, 'query') ? OF_EXPRESS_4 : []),
    ...OF_CALLERS.filter((name) => Object.hasOwn(req, name) && isAssigned(req, [name])),
    ...symbols,
  ]
}

/** Whether members are the object's own when they are assigned: accessors of prototypes would have been passed over. */
function isAssigned(object: object, names: readonly string[]): boolean {
  return names.every((name) => {
    for (let from: object | null = Object.getPrototypeOf(object); from !== null; from = Object.getPrototypeOf(from)) {
      const found = Object.getOwnPropertyDescriptor(from, name)
      if (found !== undefined) return found.writable === true
    }
    return true
  })
}

let isListening = false

/** Node tells of each request before its server does. */
function listen(): void {
  if (isListening) return
  isListening = true
  subscribe('http.server.request.start', (message) => {
    const { request, response, server } = Object(message)
    const known = servers.get(server)?.of(request.url) ?? null
    if (known?.isOpen === true) known.begin(request, response)
  })
}
