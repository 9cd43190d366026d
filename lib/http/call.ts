import express from 'express'
import type { Call } from '../../types/call.js'
import type { Request, RequestHandler } from '../../types/express.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { rejectMisread } from '../parse/body.js'
import { type OutgoingResponse, setHeaders } from './outgoing.js'

/** The members of a request that a call copies. */
export type ReceivedMembers = Pick<Call, 'method' | 'originalUrl' | 'url' | 'headers' | 'params'>

/** A request to Express or to a plain Node server. */
export class HostCall implements Call {
  readonly method: string
  readonly originalUrl: string
  readonly url: string
  readonly headers: Call['headers']
  readonly params: Call['params']
  readonly formats: readonly string[]
  readonly request: Request
  readonly #out: OutgoingResponse
  #disconnectListeners: Set<() => void> | null = null

  constructor(
    request: Request,
    out: OutgoingResponse,
    formats: readonly string[],
    received: ReceivedMembers = request,
  ) {
    this.method = received.method
    this.originalUrl = received.originalUrl
    this.url = received.url
    this.headers = received.headers
    this.params = received.params
    this.formats = formats
    this.request = request
    this.#out = out
  }

  get body(): unknown {
    return this.request.body
  }

  get isParsed(): boolean {
    return hasParsedBody(this.request)
  }

  readBody(as: 'json' | 'text', bodySize: number): Promise<void> {
    const parser = createParsers(bodySize)[as]
    return new Promise((resolve, reject) => {
      Reflect.apply(parser, undefined, [
        this.request,
        this.#out,
        (error?: unknown) => {
          if (error === undefined || error === null) resolve()
          else reject(error)
        },
      ])
    })
  }

  accepts(types: readonly string[]): string | false {
    return Reflect.apply(express.request.accepts, this.request, [[...types]])
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    setHeaders(this.#out, headers)
  }

  get isDisconnected(): boolean {
    return this.#out.destroyed && !this.#out.writableEnded
  }

  onDisconnect(listener: () => void): () => void {
    // One listener for all callbacks, because Node warns about many listeners.
    this.#disconnectListeners ??= this.#listenForClose()
    const listeners = this.#disconnectListeners
    listeners.add(listener)
    if (this.isDisconnected) setImmediate(() => listeners.has(listener) && listener())
    return () => void listeners.delete(listener)
  }

  #listenForClose(): Set<() => void> {
    const listeners = new Set<() => void>()
    this.#out.once('close', () => {
      if (this.isDisconnected) for (const listener of listeners) listener()
    })
    return listeners
  }
}

/**
 * Whether a parser has read the body. Body-parser sets `_body`. Other parsers and serverless adapters leave an ended
 * stream.
 */
export function hasParsedBody(req: Request): boolean {
  if ((req as { _body?: unknown })._body === true) return true
  return req.body !== undefined && (req.readableEnded || req.destroyed)
}

type Parsers = Readonly<Record<'json' | 'text', RequestHandler>>

/** The parsers of bodies, by the body limit in bytes. */
const parsers = new Map<number, Parsers>()

function createParsers(limit: number): Parsers {
  // Accepts every type. The caller has checked the content type, and body-parser would skip a body of an unexpected
  // type.
  return getOrCreate(parsers, limit, () => ({
    json: express.json({ type: () => true, limit, strict: false, verify: rejectMisread }),
    text: express.text({ type: () => true, limit, verify: rejectMisread }),
  }))
}
