import type { Request, RequestHandler, Response } from 'express'
import type { Intent, Item } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { type KeyFields, keyOfStated } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { invalidQuery } from '../common/problem.js'
import type { IntentKind, Operation } from '../operations.js'
import { readArray, readObject } from './body.js'
import { type ListRequest, readExport, readList } from './list.js'
import { matchOf, tagsOf } from './match.js'
import { type Hidden, readParameter } from './parameters.js'
import { isMinimal } from './prefer.js'
import { assertQueried, readFor, urlOf } from './queried.js'
import { readRecord } from './record.js'

/** A request with what reading it needs. */
export interface Received {
  readonly req: Request
  readonly res: Response
  readonly parser: RequestHandler
  /** Reads JSON lines as text; absent where the operation takes none. */
  readonly lines?: RequestHandler | undefined
  readonly hidden: Hidden
  /** The names of the formats that an export may be asked for in. */
  readonly formats?: readonly string[]
}

type Reader = (resource: Resource, received: Received) => Intent | Promise<Intent>

const READERS: Readonly<Record<IntentKind, Reader>> = {
  get: (resource, { req }) => {
    // The reply is held against it; how much there is to hold is settled before the database is asked.
    if (resource.versions) tagsOf('If-None-Match', req.headers['if-none-match'])
    return { kind: 'get', key: keyOf(req), ...readRecord(resource, req) }
  },
  list: (resource, { req, hidden }) => {
    tagsOf('If-None-Match', req.headers['if-none-match'])
    const intent = listIn(resource, req, hidden)
    // Another policy decides on those.
    if (intent.mode === 'aggregate') throw new TypeError('an aggregate has come to the list')
    return intent
  },
  aggregate: (resource, { req, hidden }) => {
    tagsOf('If-None-Match', req.headers['if-none-match'])
    const intent = listIn(resource, req, hidden)
    if (intent.mode === 'aggregate') return intent
    throw invalidQuery('aggregate', 'or group is needed: there are no lists here.')
  },
  export: (resource, { req, hidden, formats = [] }) => {
    assertQueried(req)
    return readExport(readFor(resource, req), requested(req), { hidden, formats })
  },
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
  replace: async (resource, received) => {
    const { req } = received
    // Where there is no version a record that is there meets any; one that is not there meets none.
    const match = matchOf(req.headers['if-match'])
    const isNew = tagsOf('If-None-Match', req.headers['if-none-match'])?.includes('*') ?? false
    const body = await object(resource, received)
    const named = resource.keys.map(({ json }) => own(body, json))
    return {
      kind: 'replace',
      key: keyOf(req),
      named,
      match,
      isNew,
      update: body,
      create: body,
      minimal: minimalIn(received),
    }
  },
  bulkUpdate: async (resource, received) => ({
    kind: 'bulkUpdate',
    items: (await array(resource, received)).map(itemReader(resource)),
    minimal: minimalIn(received),
  }),
  upsert: async (resource, received) => {
    const by = readParameter(resource, received.req.url, 'by')
    const read = itemReader(resource)
    const items = (await array(resource, received)).map((body) => {
      const item = read(body)
      return item && { version: item.version, update: item.body, create: item.body }
    })
    return { kind: 'upsert', by, items }
  },
  bulkDelete: async (resource, received) => ({ kind: 'bulkDelete', keys: await array(resource, received, 'keys') }),
}

/** What a list is asked for, by the URL or by a body in its place. @throws Problem for what cannot be read */
function listIn(resource: Resource, req: Request, hidden: Hidden): ReturnType<typeof readList> {
  assertQueried(req)
  return readList(readFor(resource, req), requested(req), hidden)
}

function requested(req: Request): ListRequest {
  return { url: urlOf(req), headers: req.headers }
}

/** What a request asks for, as written. @throws Problem for what cannot be read */
export function parse(resource: Resource, { intent }: Operation, received: Received): Intent | Promise<Intent> {
  return READERS[intent](resource, received)
}

function own(body: object, name: string | undefined): unknown {
  return name !== undefined && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
}

/** Reads what a body of several has in the place of a path and of headers. */
function itemReader({ keys, version, fields }: Resource): (body: unknown) => Item | null {
  const versionName = fields.find(({ name }) => name === version)?.json
  return (body) =>
    isObject(body) ? { key: keyOfItem(keys, body), version: own(body, versionName), body: { ...body } } : null
}

/** What is missing has no key; what cannot be a part of one cannot be a key either. */
function keyOfItem(keys: KeyFields, body: object): unknown {
  const parts = keys.map(({ json }) => own(body, json))
  const [only] = parts
  if (parts.length === 1) return only
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return keyOfStated(keys, parts) ?? {}
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

function array(resource: Resource, { parser, lines, req, res }: Received, of?: 'keys'): ReturnType<typeof readArray> {
  return readArray(resource, { json: parser, lines, ...(of && { of }) }, req, res)
}
