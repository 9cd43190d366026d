import type {
  AsyncApiChannel,
  AsyncApiDocument,
  AsyncApiMessage,
  AsyncApiOperation,
  AsyncApiOptions,
} from '../../types/asyncApi.js'
import type { DocumentInfo, DocumentReference, JsonSchema } from '../../types/openApi.js'
import { anyOf } from '../codec/schema.js'
import { atOnce, type Steps } from '../common/turns.js'
import { asked } from './asked.js'
import { Components } from './components.js'
import { type Security, securityOf } from './security.js'
import { eventOf, itemOf } from './shapes.js'
import { assertOptions, type Subject, subjectsOf } from './subjects.js'
import { keyOf } from './values.js'

const OPTIONS: readonly (keyof AsyncApiOptions)[] = ['resources', 'info', 'security', 'servers']

/**
 * AsyncAPI 3.1 document of push hubs: one channel per hub, one message per event. Resources without a hub are left out.
 *
 * @throws CrudConfigError for wrong options, and for values that are not resources
 */
export function asyncApi(options: AsyncApiOptions): AsyncApiDocument {
  assertOptions(options, 'asyncApi', OPTIONS)
  return atOnce(writeAsyncApi(options))
}

/** Writes the document of `asyncApi`, one resource per step. */
export function* writeAsyncApi({ resources, info, servers, security }: AsyncApiOptions): Steps<AsyncApiDocument> {
  const components = new Components(true)
  const channels = new Map<string, AsyncApiChannel>()
  const operations = new Map<string, AsyncApiOperation>()
  const messages = new Map<string, AsyncApiMessage>()
  for (const subject of hubsOf(subjectsOf(resources, components))) {
    const { one, many } = subject.names
    const own = messagesOf(subject)
    const secured = schemesOf(subject, security)
    for (const message of own) {
      messages.set(one + message.name, message)
      operations.set(`send${one}${message.name}`, {
        action: 'send',
        channel: { $ref: `#/channels/${many}` },
        summary: message.summary,
        messages: [{ $ref: `#/channels/${many}/messages/${message.name}` }],
        ...(secured.length === 0 ? {} : { security: secured }),
      })
    }
    channels.set(many, channelOf(subject, own))
    yield* components.make()
    yield
  }
  components.settle()
  const { schemas, securitySchemes } = components.content
  return {
    asyncapi: '3.1.0',
    info: infoOf(info),
    ...(servers === undefined ? {} : { servers }),
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(operations),
    components: {
      messages: Object.fromEntries(messages),
      ...(schemas === undefined ? {} : { schemas }),
      ...(securitySchemes === undefined ? {} : { securitySchemes }),
    },
  }
}

/** Members of `info` that AsyncAPI supports. It has no summary and no license identifier. */
function infoOf({ summary: _, license, ...info }: DocumentInfo): DocumentInfo {
  if (license === undefined) return info
  const { identifier: __, ...named } = license
  return { ...info, license: named }
}

/** The first subject of each hub. A resource with several mounts has one hub. */
function hubsOf(subjects: readonly Subject[]): readonly Subject[] {
  const hubs = new Set<string>()
  return subjects.filter(({ resource: { hub } }) => {
    if (hub === null || hubs.has(hub.name)) return false
    hubs.add(hub.name)
    return true
  })
}

function channelOf({ resource, names, path }: Subject, messages: readonly AsyncApiMessage[]): AsyncApiChannel {
  const references = messages.map(({ name }) => [name, { $ref: `#/components/messages/${names.one}${name}` }])
  return {
    address: resource.hub?.name ?? '',
    title: names.many,
    description: `Changes of the records at \`${path}\`. The address is a namespace of Socket.IO. Clients only receive events.`,
    messages: Object.fromEntries(references),
  }
}

function messagesOf(subject: Subject): readonly AsyncApiMessage[] {
  const { one, many } = subject.names
  const { version, fields, documented } = subject.resource
  const isScoped = documented.scoped
  const shownVersion = fields.find(({ name, targets }) => name === version && targets.has('response'))
  const record = recordOf(subject)
  const deleted = shownVersion === undefined ? [keyOf(subject)] : [keyOf(subject), VERSION]
  return [
    messageOf('OnCreated', `A new or restored ${one}`, [record]),
    messageOf('OnUpdated', `A changed ${one}`, [record]),
    messageOf(
      'OnDeleted',
      `The key of a deleted ${one}${isScoped ? ', or of one that has left the scope of the client' : ''}`,
      deleted,
    ),
    messageOf('OnMissed', `Events of ${many} may have been lost. Load the list again`, []),
  ]
}

const VERSION: JsonSchema = { type: 'integer', minimum: 0, description: 'The version of the deleted record.' }

function messageOf(name: string, summary: string, args: readonly JsonSchema[]): AsyncApiMessage {
  const [payload] = args
  return { name, title: name, summary, ...(payload === undefined ? {} : { payload }), 'x-arguments': args }
}

/** Record of an event. Without the operation `getById`, the event has the fields of lists. */
function recordOf(subject: Subject): JsonSchema {
  const { operations, documented } = subject.resource
  if (!operations.has('getById')) return itemOf(subject)
  const all = [eventOf(subject), ...(documented.policies.has('getById') || documented.scoped ? [itemOf(subject)] : [])]
  const distinct = new Map(all.map((schema) => [JSON.stringify(schema), schema]))
  return anyOf([...distinct.values()])
}

/** Security schemes of the Socket.IO handshake. */
function schemesOf(subject: Subject, security: Security): readonly DocumentReference[] {
  const { operations } = subject.resource
  const operation = operations.has('getList') ? 'getList' : 'getById'
  const names = securityOf(subject, [asked(subject, operation)], security).flatMap((each) => Object.keys(each))
  return [...new Set(names)].map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))
}
