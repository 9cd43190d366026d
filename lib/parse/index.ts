import type { Call } from '../../types/call.js'
import type { Intent, Item } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { type KeyFields, keyOfStated } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { invalidQuery } from '../common/problem.js'
import type { IntentKind, Operation } from '../operations.js'
import { readArray, readObject } from './body.js'
import { type ListRequest, readExport, readList } from './list.js'
import { matchOf, tagsOf } from './match.js'
import { readParameter } from './parameters.js'
import { isMinimal } from './prefer.js'
import { assertQueried, readFor, urlOf } from './queried.js'
import { readRecord } from './record.js'
import type { Hidden } from './unknown.js'

/** A call, with the settings for reading it. */
interface Received {
  readonly call: Call
  /** Whether an array may be sent as JSON lines. */
  readonly lines?: boolean | undefined
  readonly hidden: Hidden
  /** The key of the record, if it is not in the path. */
  readonly key?: string | undefined
}

type Reader = (resource: Resource, received: Received) => Intent | Promise<Intent>

const READERS: Readonly<Record<IntentKind, Reader>> = {
  get: (resource, received) => {
    const { call } = received
    // Checks the number of tags before the database is used. The reply is compared with them later.
    if (resource.versions) tagsOf('If-None-Match', call.headers['if-none-match'])
    return { kind: 'get', key: keyOf(received), ...readRecord(resource, call) }
  },
  list: (resource, { call, hidden }) => {
    tagsOf('If-None-Match', call.headers['if-none-match'])
    const intent = listIn(resource, call, hidden)
    // Aggregates have another policy.
    if (intent.mode === 'aggregate') throw new TypeError('an aggregate has come to the list')
    return intent
  },
  aggregate: (resource, { call, hidden }) => {
    tagsOf('If-None-Match', call.headers['if-none-match'])
    const intent = listIn(resource, call, hidden)
    if (intent.mode === 'aggregate') return intent
    throw invalidQuery('aggregate', 'or group is required, because the operation getList is disabled.')
  },
  export: (resource, { call, hidden }) => {
    assertQueried(call)
    return readExport(readFor(resource, call), requested(call), { hidden, formats: call.formats })
  },
  create: async (resource, received) => ({
    kind: 'create',
    body: await readObject(resource, received.call),
    minimal: isMinimal(received.call),
  }),
  update: async (resource, received) => {
    const { call } = received
    const match = matchIn(resource, call)
    const body = await readObject(resource, call)
    return { kind: 'update', key: keyOf(received), match, body, minimal: isMinimal(received.call) }
  },
  delete: (resource, received) => ({
    kind: 'delete',
    key: keyOf(received),
    match: matchIn(resource, received.call),
  }),
  restore: (_, received) => ({ kind: 'restore', key: keyOf(received), minimal: isMinimal(received.call) }),
  bulkCreate: async (resource, received) => ({
    kind: 'bulkCreate',
    bodies: await array(resource, received),
    minimal: isMinimal(received.call),
  }),
  replace: async (resource, received) => {
    const { call } = received
    // Without versions every existing record matches `If-Match`, and a missing one never does.
    const match = matchOf(call.headers['if-match'])
    const isNew = tagsOf('If-None-Match', call.headers['if-none-match'])?.includes('*') ?? false
    const body = await readObject(resource, received.call)
    // If the caller's key is given, a key in the body is ignored.
    const named = received.key === undefined ? resource.keys.map(({ json }) => own(body, json)) : []
    return {
      kind: 'replace',
      key: keyOf(received),
      named,
      match,
      isNew,
      update: body,
      create: body,
      minimal: isMinimal(received.call),
    }
  },
  bulkUpdate: async (resource, received) => ({
    kind: 'bulkUpdate',
    items: (await array(resource, received)).map(itemReader(resource)),
    minimal: isMinimal(received.call),
  }),
  upsert: async (resource, received) => {
    const by = readParameter(resource, received.call.url, 'by')
    const read = itemReader(resource)
    const items = (await array(resource, received)).map((body) => {
      const item = read(body)
      return item && { version: item.version, update: item.body, create: item.body }
    })
    return { kind: 'upsert', by, items }
  },
  bulkDelete: async (resource, received) => ({ kind: 'bulkDelete', keys: await array(resource, received, 'keys') }),
}

/** Reads a list request from the URL, or from a body in its place. @throws Problem for invalid parameters */
function listIn(resource: Resource, call: Call, hidden: Hidden): ReturnType<typeof readList> {
  assertQueried(call)
  return readList(readFor(resource, call), requested(call), hidden)
}

function requested(call: Call): ListRequest {
  return { url: urlOf(call), headers: call.headers }
}

/** Parses a request into an intent. @throws Problem for malformed input */
export function parse(
  resource: Resource,
  { intent, lines }: Operation,
  call: Call,
  hidden: Hidden,
  key?: string,
): Intent | Promise<Intent> {
  return READERS[intent](resource, { call, lines, hidden, key })
}

function own(body: object, name: string | undefined): unknown {
  return name !== undefined && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
}

/** Reads the key and the version of an element of a batch, which single requests have in their path and headers. */
function itemReader({ keys, version, fields }: Resource): (body: unknown) => Item | null {
  const versionName = fields.find(({ name }) => name === version)?.json
  return (body) =>
    isObject(body) ? { key: keyOfItem(keys, body), version: own(body, versionName), body: { ...body } } : null
}

/** The key of an element; undefined if a part is missing or invalid. */
function keyOfItem(keys: KeyFields, body: object): unknown {
  const parts = keys.map(({ json }) => own(body, json))
  const [only] = parts
  if (parts.length === 1) return only
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return keyOfStated(keys, parts) ?? {}
}

function keyOf({ key, call: { params } }: Received): string {
  return key ?? String(params.id ?? '')
}

/** Ignores `If-Match` if the records have no versions. */
function matchIn({ versions }: Resource, { headers }: Call): ReturnType<typeof matchOf> {
  return versions ? matchOf(headers['if-match']) : null
}

function array(resource: Resource, { call, lines }: Received, of?: 'keys'): ReturnType<typeof readArray> {
  return readArray(resource, call, { lines, of })
}
