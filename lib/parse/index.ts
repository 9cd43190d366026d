import type { Request, RequestHandler, Response } from 'express'
import type { Intent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import type { IntentKind, Operation } from '../operations.js'
import { readArray, readObject } from './body.js'
import { readList } from './list.js'
import { matchOf, tagsOf } from './match.js'
import type { Hidden } from './parameters.js'
import { isMinimal } from './prefer.js'

/** A request with what reading it needs. */
export interface Received {
  readonly req: Request
  readonly res: Response
  readonly parser: RequestHandler
  readonly hidden: Hidden
}

type Reader = (resource: Resource, received: Received) => Intent | Promise<Intent>

const READERS: Readonly<Record<IntentKind, Reader>> = {
  get: (resource, { req }) => {
    // The reply is held against it; how much there is to hold is settled before the database is asked.
    if (resource.versions) tagsOf('If-None-Match', req.headers['if-none-match'])
    return { kind: 'get', key: keyOf(req) }
  },
  list: (resource, { req, hidden }) => readList(resource, req, hidden),
  create: async (resource, received) => ({
    kind: 'create',
    body: await object(resource, received),
    minimal: minimalIn(received),
  }),
  update: async (resource, received) => {
    const { req } = received
    const match = matchIn(resource, req)
    const body = await object(resource, received)
    return { kind: 'update', key: keyOf(req), match, body, minimal: minimalIn(received) }
  },
  delete: (resource, { req }) => ({ kind: 'delete', key: keyOf(req), match: matchIn(resource, req) }),
  restore: (_, received) => ({ kind: 'restore', key: keyOf(received.req), minimal: minimalIn(received) }),
  bulkCreate: async (resource, received) => ({
    kind: 'bulkCreate',
    bodies: await array(resource, received),
    minimal: minimalIn(received),
  }),
  bulkDelete: async (resource, received) => ({ kind: 'bulkDelete', keys: await array(resource, received) }),
}

/** What a request asks for, as written. @throws Problem for what cannot be read */
export async function parse(resource: Resource, { intent }: Operation, received: Received): Promise<Intent> {
  return READERS[intent](resource, received)
}

function minimalIn({ req }: Received): boolean {
  return isMinimal(req.headers.prefer)
}

function keyOf({ params }: Request): string {
  return String(params.id ?? '')
}

/** Nothing is held against a version where records have none. */
function matchIn({ versions }: Resource, { headers }: Request): ReturnType<typeof matchOf> {
  return versions ? matchOf(headers['if-match']) : null
}

function object(resource: Resource, { parser, req, res }: Received): ReturnType<typeof readObject> {
  return readObject(resource, parser, req, res)
}

function array(resource: Resource, { parser, req, res }: Received): ReturnType<typeof readArray> {
  return readArray(resource, parser, req, res)
}
