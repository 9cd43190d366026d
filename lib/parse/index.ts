import type { Call } from '../../types/call.js'
import type { BatchItem, Intent } from '../../types/intent.js'
import type { Resource } from '../../types/resource.js'
import { internalError } from '../common/internalError.js'
import { type KeyFields, keyOfBodyParts } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { invalidQuery } from '../common/problem.js'
import type { IntentKind, Operation } from '../operations.js'
import { readArray, readObject } from './body.js'
import { type ListRequest, readExport, readList } from './list.js'
import { parseMatch, readTags } from './match.js'
import { readParameter, readSelection } from './parameters.js'
import { prefersMinimal } from './prefer.js'
import { assertValidQueryBody, isQueryMethod, resourceForQuery, urlOf } from './queryMethod.js'
import { readSelectionMembers } from './record.js'
import type { HiddenFields } from './unknownParameters.js'

/** A call, with the settings for reading it. */
interface ReceivedCall {
  readonly call: Call
  /** Whether an array may be sent as JSON lines. */
  readonly lines?: boolean | undefined
  readonly hidden: HiddenFields
  /** The key of the record, if it is not in the path. */
  readonly key?: string | undefined
}

type IntentReader = (resource: Resource, received: ReceivedCall) => Intent | Promise<Intent>

const READERS: Readonly<Record<IntentKind, IntentReader>> = {
  get: (resource, received) => {
    const { call } = received
    // Checks the number of tags before the database is used. The tags are compared with the reply later.
    if (resource.versions) readTags('If-None-Match', call.headers['if-none-match'])
    const selection = readSelectionMembers(resource, readSelection(resource, call.url), call.headers)
    return { kind: 'get', key: recordKeyOf(received), ...selection }
  },
  list: (resource, { call, hidden }) => {
    readTags('If-None-Match', call.headers['if-none-match'])
    const intent = readListIntent(resource, call, hidden)
    // Aggregates have a policy of their own, so the list must not serve them.
    if (intent.mode === 'aggregate') throw internalError('the list received a request for aggregates')
    return intent
  },
  aggregate: (resource, { call, hidden }) => {
    readTags('If-None-Match', call.headers['if-none-match'])
    const intent = readListIntent(resource, call, hidden)
    if (intent.mode === 'aggregate') return intent
    throw invalidQuery(
      'aggregate',
      'is required, unless the parameter group is given. This resource serves aggregates only.',
    )
  },
  export: (resource, { call, hidden }) => {
    assertValidQueryBody(call)
    return readExport(resourceForQuery(resource, call), listRequestOf(call), {
      hidden,
      formats: call.formats,
    })
  },
  create: async (resource, received) => ({
    kind: 'create',
    body: await readObject(resource, received.call),
    minimal: prefersMinimal(received.call),
  }),
  update: async (resource, received) => {
    const { call } = received
    const match = readMatch(resource, call)
    const body = await readObject(resource, call)
    return { kind: 'update', key: recordKeyOf(received), match, body, minimal: prefersMinimal(received.call) }
  },
  delete: (resource, received) => ({
    kind: 'delete',
    key: recordKeyOf(received),
    match: readMatch(resource, received.call),
  }),
  restore: (_, received) => ({ kind: 'restore', key: recordKeyOf(received), minimal: prefersMinimal(received.call) }),
  bulkCreate: async (resource, received) => ({
    kind: 'bulkCreate',
    bodies: await readBodyArray(resource, received),
    minimal: prefersMinimal(received.call),
  }),
  replace: async (resource, received) => {
    const { call } = received
    // Without versions, `If-Match` matches every existing record, and no missing record.
    const match = parseMatch(call.headers['if-match'])
    const isNew = readTags('If-None-Match', call.headers['if-none-match'])?.includes('*') ?? false
    const body = await readObject(resource, received.call)
    // On a singleton the caller determines the key, and a key in the body is ignored.
    const named = received.key === undefined ? resource.keys.map(({ json }) => readOwnMember(body, json)) : []
    return {
      kind: 'replace',
      key: recordKeyOf(received),
      keyValues: named,
      match,
      isCreateOnly: isNew,
      update: body,
      create: body,
      minimal: prefersMinimal(received.call),
    }
  },
  bulkUpdate: async (resource, received) => ({
    kind: 'bulkUpdate',
    items: (await readBodyArray(resource, received)).map(createBatchItemReader(resource)),
    minimal: prefersMinimal(received.call),
  }),
  upsert: async (resource, received) => {
    const by = readParameter(resource, received.call.url, 'by')
    const read = createBatchItemReader(resource)
    const items = (await readBodyArray(resource, received)).map((body) => {
      const item = read(body)
      return item && { version: item.version, update: item.body, create: item.body }
    })
    return { kind: 'upsert', by, items }
  },
  bulkDelete: async (resource, received) => ({
    kind: 'bulkDelete',
    keys: await readBodyArray(resource, received, 'keys'),
  }),
}

/** Reads a list request from the URL, or from the body of a QUERY. @throws Problem for invalid parameters */
function readListIntent(resource: Resource, call: Call, hidden: HiddenFields): ReturnType<typeof readList> {
  if (!isQueryMethod(call)) return readList(resource, call, hidden)
  assertValidQueryBody(call)
  return readList(resourceForQuery(resource, call), listRequestOf(call), hidden)
}

function listRequestOf(call: Call): ListRequest {
  return { url: urlOf(call), headers: call.headers }
}

/** Parses a request into an intent. @throws Problem for malformed input */
export function parse(
  resource: Resource,
  { intent, lines }: Operation,
  call: Call,
  hidden: HiddenFields,
  key?: string,
): Intent | Promise<Intent> {
  return READERS[intent](resource, { call, lines, hidden, key })
}

function readOwnMember(body: object, name: string | undefined): unknown {
  return name !== undefined && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined
}

/**
 * Returns a reader for elements of a batch. Each element contains the key and the version that single requests have in
 * path and headers.
 */
function createBatchItemReader({ keys, versionField }: Resource): (body: unknown) => BatchItem | null {
  return (body) =>
    isObject(body)
      ? { key: keyOfItem(keys, body), version: readOwnMember(body, versionField?.json), body: { ...body } }
      : null
}

/** Returns the key of an element; undefined if a part is missing, and an impossible key if a part is invalid. */
function keyOfItem(keys: KeyFields, body: object): unknown {
  const parts = keys.map(({ json }) => readOwnMember(body, json))
  const [only] = parts
  if (parts.length === 1) return only
  if (parts.some((part) => part === undefined || part === null)) return undefined
  return keyOfBodyParts(keys, parts) ?? {}
}

function recordKeyOf({ key, call: { params } }: ReceivedCall): string {
  return key ?? String(params.id ?? '')
}

/** Parses `If-Match`; null if the records have no versions. */
function readMatch({ versions }: Resource, { headers }: Call): ReturnType<typeof parseMatch> {
  return versions ? parseMatch(headers['if-match']) : null
}

function readBodyArray(resource: Resource, { call, lines }: ReceivedCall, of?: 'keys'): ReturnType<typeof readArray> {
  return readArray(resource, call, { lines, of })
}
