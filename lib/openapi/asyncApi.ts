import type {
  AsyncApiChannel,
  AsyncApiDocument,
  AsyncApiMessage,
  AsyncApiOperation,
  AsyncApiOptions,
} from '../../types/asyncApi.js'
import type { DocumentInfo, DocumentReference, JsonSchema } from '../../types/openApi.js'
import { anyOf } from '../codec/schema.js'
import { runAtOnce, type Steps } from '../common/eventLoop.js'
import { admittingOperationOf, hasWholeRecords, visibleVersionOf } from '../common/pushReads.js'
import { Components } from './components.js'
import { createPermission } from './requiredPermissions.js'
import { type Security, securityRequirements } from './security.js'
import { buildEventSchema, buildItemSchema } from './shapes.js'
import { assertOptions, createSubjects, type DescribedResource } from './subjects.js'
import { buildKeySchema } from './values.js'

const OPTION_NAMES: readonly (keyof AsyncApiOptions)[] = ['resources', 'info', 'security', 'servers']

/**
 * AsyncAPI 3.1 document of push hubs: one channel per hub, one message per event. Resources without a hub are left out.
 *
 * @throws CrudConfigError for wrong options, and for values that are not resources
 */
export function asyncApi(options: AsyncApiOptions): AsyncApiDocument {
  assertOptions(options, 'asyncApi', OPTION_NAMES)
  return runAtOnce(writeAsyncApi(options))
}

/** Writes the document of `asyncApi`, one resource per step. */
export function* writeAsyncApi({ resources, info, servers, security }: AsyncApiOptions): Steps<AsyncApiDocument> {
  const components = new Components(true)
  const channels = new Map<string, AsyncApiChannel>()
  const operations = new Map<string, AsyncApiOperation>()
  const messages = new Map<string, AsyncApiMessage>()
  for (const subject of distinctHubs(createSubjects(resources, components))) {
    const { one, many } = subject.names
    const own = writeMessages(subject)
    const secured = handshakeSchemes(subject, security)
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
    channels.set(many, writeChannel(subject, own))
    yield* components.createPending()
    yield
  }
  components.fillRepeated()
  const { schemas, securitySchemes } = components.content
  return {
    asyncapi: '3.1.0',
    info: toAsyncApiInfo(info),
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

/** Members of `info` that AsyncAPI supports. AsyncAPI has no summary and no license identifier. */
function toAsyncApiInfo({ summary: _, license, ...info }: DocumentInfo): DocumentInfo {
  if (license === undefined) return info
  const { identifier: __, ...named } = license
  return { ...info, license: named }
}

/** The first subject of each hub, because several mounts of a resource share one hub. */
function distinctHubs(subjects: readonly DescribedResource[]): readonly DescribedResource[] {
  const hubs = new Set<string>()
  return subjects.filter(({ resource: { hub } }) => {
    if (hub === null || hubs.has(hub.name)) return false
    hubs.add(hub.name)
    return true
  })
}

function writeChannel(
  { resource, names, path }: DescribedResource,
  messages: readonly AsyncApiMessage[],
): AsyncApiChannel {
  const references = messages.map(({ name }) => [name, { $ref: `#/components/messages/${names.one}${name}` }])
  return {
    address: resource.hub?.name ?? '',
    title: names.many,
    description: `Changes of the records at \`${path}\`. The address is a namespace of Socket.IO. Clients only receive events.`,
    messages: Object.fromEntries(references),
  }
}

function writeMessages(subject: DescribedResource): readonly AsyncApiMessage[] {
  const { one, many } = subject.names
  const { isScoped } = subject.resource.documented
  const record = buildEventRecordSchema(subject)
  const hasVersion = visibleVersionOf(subject.resource) !== null
  const deleted = hasVersion ? [buildKeySchema(subject), VERSION_SCHEMA] : [buildKeySchema(subject)]
  return [
    writeMessage('OnCreated', `A new or restored ${one}`, [record]),
    writeMessage('OnUpdated', `A changed ${one}`, [record]),
    writeMessage(
      'OnDeleted',
      `The key of a deleted ${one}${isScoped ? ', or of one that has left the scope of the client' : ''}`,
      deleted,
    ),
    writeMessage('OnMissed', `Events of ${many} may have been lost. Load the list again`, []),
  ]
}

const VERSION_SCHEMA: JsonSchema = { type: 'integer', minimum: 0, description: 'The version of the deleted record.' }

function writeMessage(name: string, summary: string, args: readonly JsonSchema[]): AsyncApiMessage {
  const [payload] = args
  return { name, title: name, summary, ...(payload === undefined ? {} : { payload }), 'x-arguments': args }
}

/** Schema of the record in an event. Events of a resource that has only lists have the fields of lists. */
function buildEventRecordSchema(subject: DescribedResource): JsonSchema {
  const { documented } = subject.resource
  if (!hasWholeRecords(subject.resource)) return buildItemSchema(subject)
  const all = [
    buildEventSchema(subject),
    ...(documented.policies.has('getById') || documented.isScoped ? [buildItemSchema(subject)] : []),
  ]
  const distinct = new Map(all.map((schema) => [JSON.stringify(schema), schema]))
  return anyOf([...distinct.values()])
}

/** Security schemes of the Socket.IO handshake. */
function handshakeSchemes(subject: DescribedResource, security: Security): readonly DocumentReference[] {
  const permission = createPermission(subject, admittingOperationOf(subject.resource))
  const names = securityRequirements(subject, [permission], security).flatMap((each) => Object.keys(each))
  return [...new Set(names)].map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))
}
