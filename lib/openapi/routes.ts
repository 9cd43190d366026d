import { STATUS_CODES } from 'node:http'
import type { Deprecation } from '../../types/deprecated.js'
import type { DocumentedOperation, JsonSchema } from '../../types/openApi.js'
import type { OperationName, Relation } from '../../types/resource.js'
import { listSchema, objectSchema, omitUndefined, type SchemaMembers, TEXT } from '../codec/schema.js'
import { LINES } from '../common/jsonLines.js'
import { RELATION_ROUTES, type RelationKind, type RelationRoute, relationKindOf } from '../nested/routes.js'
import { builtInOperationEntries, type Operation, type PathMethod } from '../operations.js'
import { MEDIA_TYPES } from '../parse/body.js'
import { QUERY_TYPES, SUPPORTS_QUERY } from '../parse/queryMethod.js'
import { createActionEntry } from './actions.js'
import { toComponentName } from './components.js'
import { deprecationHeaders, describeDeprecation } from './deprecated.js'
import { ENTRIES, jsonReply, listReplies, type OperationEntry, type Replies } from './operations.js'
import { buildCountSchema } from './pages.js'
import { idempotencyKey, keyParameter, PREFER, pathParameters } from './parameters.js'
import { hasIdempotencyKey, problemResponses, writeHeaders } from './problems.js'
import {
  createActionPermission,
  createNestedPermission,
  createPermission,
  joinModelSubject,
  nestedPermissions,
  type RequiredPermission,
} from './requiredPermissions.js'
import { type Security, securityRequirements } from './security.js'
import { buildNestedCreateSchema, buildUpsertSchema, parentAttributesOf } from './shapes.js'
import { type DescribedResource, relationName } from './subjects.js'
import { buildKeySchema } from './values.js'

/** An operation of a document, with its path and method. */
export interface Route {
  /** Resource that owns the route. */
  readonly subject: DescribedResource
  readonly path: string
  readonly method: PathMethod
  readonly operation: DocumentedOperation
  /** Relation of the route. Absent for a resource's own routes. */
  readonly relation?: string
}

/** Writes the operations of a resource's own routes: the collection, fixed paths below it, and records. */
export function writeOwnRoutes(subject: DescribedResource, security: Security): readonly Route[] {
  const { names, path, resource } = subject
  const isDocumented = (name: OperationName): boolean =>
    resource.operations.has(name) && !ENTRIES[name].sharedWith?.some((other) => resource.operations.has(other))
  const operations = builtInOperationEntries(resource.operationTable)
    .filter(([name]) => isDocumented(name))
    .map(([name, row]) => ({ row, entry: ENTRIES[name], permission: createPermission(subject, name) }))
  const actions = [...resource.actions.values()].map((action) => {
    const permission = createActionPermission(subject, action)
    return { row: permission.row, entry: createActionEntry(action), permission }
  })
  return [...operations, ...actions]
    .toSorted((one, other) => pathRank(one.row) - pathRank(other.row))
    .flatMap(({ row, entry, permission }) => {
      const described: RouteDescription = {
        entry,
        words: names,
        tag: names.many,
        subject,
        deprecated: resource.documented.deprecated,
        pathParameters: pathParameters(subject, row.path.startsWith('/:id')),
        request: row,
        permissions: [permission],
      }
      const below = row.path === '/' ? '' : row.path.replaceAll(/:(\w+)/g, '{$1}')
      const place = path === '/' ? below || '/' : path + below
      return writeOperations(security, described, row).map((operation) => ({ subject, path: place, ...operation }))
    })
}

function pathRank({ path }: Operation): number {
  if (path === '/') return 0
  return path.startsWith('/:') ? 2 : 1
}

interface RouteDescription {
  readonly entry: OperationEntry
  /** Words for the operation id and summary. */
  readonly words: object
  readonly tag: string
  /** Resource whose records the route returns. */
  readonly subject: DescribedResource
  /** Deprecation of the resource that owns the route, or null. */
  readonly deprecated: Deprecation | null
  readonly pathParameters: readonly JsonSchema[]
  /** Method and body formats of the request. */
  readonly request: Pick<Operation, 'lines'> & { readonly method: PathMethod }
  /** Operations that need permission. The last entry is the route's own operation. */
  readonly permissions: readonly RequiredPermission[]
}

/** Writes an operation with its method. Adds a QUERY operation if the OpenAPI version can express it. */
function writeOperations(
  security: Security,
  described: RouteDescription,
  { queried }: { readonly queried?: true | undefined },
): readonly Pick<Route, 'method' | 'operation'>[] {
  const isQueried = queried === true && SUPPORTS_QUERY && described.subject.components.version !== '3.1'
  const all = isQueried ? [described, toQueryDescription(described)] : [described]
  return all.map((each) => ({ method: each.request.method, operation: writeOperation(security, each) }))
}

/** Describes the operation as QUERY, with its query parameters in the body (RFC 10008). */
function toQueryDescription({ entry, permissions, ...described }: RouteDescription): RouteDescription {
  const [id, summary] = entry.idAndSummary
  const parametersFor = (subject: DescribedResource): readonly JsonSchema[] => entry.parameters?.(subject) ?? []
  return {
    ...described,
    entry: {
      ...entry,
      idAndSummary: [`${id}ByQuery`, summary],
      describe: () => 'The parameters are in the body: a form, or a flat JSON object. The response has no `Link`.',
      parameters: (subject) => parametersFor(subject).filter((parameter) => parameter.in !== 'query'),
      body: (subject) => buildQueryBody(parametersFor(subject).filter((parameter) => parameter.in === 'query')),
      isBodyOptional: true,
    },
    request: { method: 'query' },
    permissions: permissions.map((each) => ({ ...each, hasQueryBody: true })),
  }
}

/** Object schema of query parameters in a body. Lists are comma-separated texts, as in a URL. */
function buildQueryBody(parameters: readonly JsonSchema[]): JsonSchema {
  const properties = parameters.map(({ name, description, schema }) => {
    const given: JsonSchema = Object(schema)
    return [String(name), { ...(given.type === 'array' ? TEXT : given), description }] as const
  })
  return objectSchema(Object.fromEntries(properties), 'all')
}

function writeOperation(
  security: Security,
  { entry, words, tag, subject, deprecated, pathParameters, request, permissions }: RouteDescription,
): DocumentedOperation {
  const [operationId = '', summary = ''] = entry.idAndSummary.map((text) => fillTemplate(text, words))
  const headers = deprecationHeaders(deprecated)
  const described = [entry.describe?.(subject) ?? [], deprecated === null ? [] : describeDeprecation(deprecated)].flat()
  const own = permissions.slice(-1)
  // The last response of a status is documented: that of the request's own resource.
  const all = [...own.flatMap(nestedPermissions), ...permissions]
  const once = own.filter(hasIdempotencyKey)
  const keys = once.map((each) => idempotencyKey(each.subject.resource.documented.requiresIdempotencyKey))
  const parameters = [...pathParameters, ...keys, ...(entry.parameters?.(subject) ?? [])]
  const shared = parameters.map((parameter) => shareParameter(subject, parameter))
  return {
    operationId,
    summary,
    ...(described.length === 0 ? {} : { description: described.join(' ') }),
    ...(deprecated === null ? {} : { deprecated: true as const }),
    tags: [tag],
    ...(shared.length === 0 ? {} : { parameters: shared }),
    ...writeRequestBody(subject, entry, request),
    responses: {
      ...shareReplies(subject, entry.replies(subject), { ...headers, ...replayHeader(subject, once) }),
      ...Object.assign({}, ...all.map((each) => problemResponses(each, headers))),
    },
    security: securityRequirements(subject, all, security),
  }
}

function fillTemplate(text: string, words: object): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, word: string) => String(Reflect.get(words, word)))
}

/** Parameters that name fields of the resource. */
const FIELD_PARAMETERS: ReadonlySet<string> = new Set(['filter', 'sort', 'select', 'search', 'by'])

function shareParameter({ components, names }: DescribedResource, parameter: JsonSchema): JsonSchema {
  const name = String(parameter.name)
  return components.share(
    'parameters',
    (FIELD_PARAMETERS.has(name) ? names.one : '') + toComponentName(name),
    parameter,
  )
}

function writeRequestBody(
  subject: DescribedResource,
  { body, isBodyOptional }: OperationEntry,
  takes: RouteDescription['request'],
): JsonSchema {
  if (body === undefined) return {}
  const schema = body(subject)
  const types = BODY_TYPES[takes.method] ?? MEDIA_TYPES.slice(0, 1)
  const content = Object.fromEntries([
    ...types.map((type) => [type, { schema }]),
    ...(takes.lines ? [[LINES, buildLinesSchema(subject, schema)]] : []),
  ])
  return { requestBody: { ...(isBodyOptional ? {} : { required: true }), content } }
}

/** Media types of bodies, by method. Default: JSON only. */
const BODY_TYPES: { readonly [method in PathMethod]?: readonly string[] } = { patch: MEDIA_TYPES, query: QUERY_TYPES }

/** Schema of a body with one JSON object per line. */
function buildLinesSchema({ components }: DescribedResource, { items }: JsonSchema): JsonSchema {
  if (components.version === '3.1') return { schema: { ...TEXT, description: 'One JSON object per line.' } }
  return { itemSchema: items }
}

/** Response header that marks a replayed response. */
function replayHeader(subject: DescribedResource, once: readonly RequiredPermission[]): SchemaMembers {
  return once.length === 0 ? {} : Object(writeHeaders(subject, ['Idempotency-Replayed']).headers)
}

/** Responses of an operation, as shared components with additional headers. */
function shareReplies(
  subject: DescribedResource,
  replies: Replies,
  more: SchemaMembers,
): Readonly<Record<string, JsonSchema>> {
  const { components } = subject
  const isPlain = Object.keys(more).every((name) => name === 'Idempotency-Replayed')
  const shared = Object.entries(replies).map(([status, { name, description, headers = [], content }]) => {
    const reply = omitUndefined({ description, ...writeHeaders(subject, headers), content })
    if (name !== undefined && isPlain) return [status, components.referTo('responses', name, () => reply)]
    const whole = Object.keys(more).length === 0 ? reply : { ...reply, headers: { ...Object(reply.headers), ...more } }
    return [status, components.share('responses', toComponentName(name ?? STATUS_CODES[status] ?? status), whole)]
  })
  return Object.fromEntries(shared)
}

// ---------------------------------------------------------------- routes below records

type NestedRouteKind = `${RelationRoute['method']}${'' | ' item'} ${RelationKind}`

const RELATED_LIST: OperationEntry = {
  ...ENTRIES.getList,
  idAndSummary: ['list{many}', 'List the {relation} of one {owner}'],
}

const doneReplies = (): Replies => ({ 204: { description: 'The write is done.', headers: ['Preference-Applied'] } })
const linkedReplies = (subject: DescribedResource): Replies => ({
  200: jsonReply('The numbers of added and removed links.', buildCountSchema(subject, 'Linked'), [
    'Preference-Applied',
  ]),
})
const countedParameters = (): readonly JsonSchema[] => [PREFER.counted]

/** Entries of routes below records, by method, presence of a key, and kind of relation. */
export const NESTED_ENTRIES: { readonly [place in NestedRouteKind]?: OperationEntry } = {
  'get one': {
    ...ENTRIES.getById,
    idAndSummary: ['get{one}', 'Get the {relation} of one {owner}'],
  },
  'get many': RELATED_LIST,
  'get linked': RELATED_LIST,
  'post many': {
    ...ENTRIES.create,
    idAndSummary: ['create{one}', 'Create one of the {relation} of one {owner}'],
    describe: () => 'The path has the key of the owner. The body may repeat it.',
  },
  'put item linked': {
    idAndSummary: ['link{one}', 'Link one of the {relation} to one {owner}'],
    parameters: countedParameters,
    replies: doneReplies,
  },
  'delete item linked': {
    idAndSummary: ['unlink{one}', 'Unlink one of the {relation} from one {owner}'],
    parameters: countedParameters,
    replies: doneReplies,
  },
  'put linked': {
    idAndSummary: ['set{many}', 'Set the {relation} of one {owner}'],
    describe: () => 'Links these records and removes all other links that the caller may see.',
    parameters: countedParameters,
    replies: linkedReplies,
  },
  'post linked': {
    idAndSummary: ['add{many}', 'Link several {relation} to one {owner}'],
    parameters: countedParameters,
    replies: linkedReplies,
  },
}

export function nestedPlaceOf(
  { method, isItem }: Pick<RelationRoute, 'method' | 'isItem'>,
  kind: RelationKind,
): NestedRouteKind {
  return `${method}${isItem ? ' item' : ''} ${kind}`
}

/** Writes the routes below records. @throws CrudConfigError for a relation whose target has no resource */
export function writeNestedRoutes(subject: DescribedResource, security: Security): readonly Route[] {
  const { resource } = subject
  const relations = resource.nested.flatMap(({ json }) => resource.relations().get(json.toLowerCase()) ?? [])
  return relations.flatMap((relation) => writeRelationRoutes(subject, relation, security))
}

function writeRelationRoutes(parent: DescribedResource, relation: Relation, security: Security): readonly Route[] {
  const { names, path } = parent
  const { json } = relation
  const target = parent.subjectOf(relation.relatedResource())
  const parties = {
    parent: parent.resource,
    target: target.resource,
    joinModelResource: relation.joinModel?.joinModelResource() ?? null,
  }
  const kind = relationKindOf(relation)
  const isSingleton = parent.resource.behaviours.ownKey !== null
  const words = {
    owner: names.one,
    relation: json,
    many: relationName(parent, relation, 'many'),
    one: relationName(parent, relation, relation.many ? 'one' : 'many'),
  }
  const routes = RELATION_ROUTES.filter(({ kinds, isEnabled }) => kinds.has(kind) && isEnabled(parties))
  return routes.flatMap((route) => {
    const { method, isItem, isWrite } = route
    const entry = NESTED_ENTRIES[nestedPlaceOf(route, kind)]
    if (entry === undefined) return []
    const below = { parent, target, relation, route }
    const { permissions, ...body } = kind === 'linked' && isWrite ? describeLink(below) : describeNestedRecord(below)
    const described: RouteDescription = {
      entry: { ...entry, ...body, ...describeLinkedList(below, kind) },
      words,
      tag: names.many,
      subject: target,
      deprecated: parent.resource.documented.deprecated,
      pathParameters: [...pathParameters(parent, !isSingleton), ...(isItem ? [keyParameter(target, 'key')] : [])],
      request: { method },
      permissions,
    }
    const place = `${path}${isSingleton ? '' : '/{id}'}/${json}${isItem ? '/{key}' : ''}`
    return writeOperations(security, described, route).map((operation) => {
      return { subject: parent, path: place, relation: json, ...operation }
    })
  })
}

interface NestedRoute {
  readonly parent: DescribedResource
  readonly target: DescribedResource
  readonly relation: Relation
  readonly route: RelationRoute
}

/** The body of a route below a record, and the operations that need permission. */
type NestedPart = Pick<OperationEntry, 'body' | 'isBodyOptional'> & Pick<RouteDescription, 'permissions'>

/** List of a many-to-many relation with readable join rows. */
function describeLinkedList(
  { parent, relation, route: { isWrite } }: NestedRoute,
  kind: RelationKind,
): Partial<OperationEntry> {
  const row = relation.joinModel?.joinRow() ?? null
  if (kind !== 'linked' || isWrite || row === null) return {}
  const sentence = `Filters, \`sort\` and \`select\` can name fields of the row that links a record to the owner: \`${row.json}\`.`
  return {
    describe: (subject) => [ENTRIES.getList.describe?.(subject) ?? [], sentence].flat().join(' '),
    replies: (subject) => listReplies(subject, { parent, relation }),
  }
}

function describeNestedRecord({ parent, target, relation, route }: NestedRoute): NestedPart {
  const [above, own] = [
    createPermission(parent, route.policies.parent),
    createPermission(target, route.policies.target),
  ]
  if (route.policies.target !== 'create') return { permissions: [above, own] }
  return {
    body: () => buildNestedCreateSchema(parent, relation, target),
    permissions: [above, { ...own, assignedAttributes: parentAttributesOf(relation) }],
  }
}

/** Describes a route that changes links. Links are updates of the parent, but the parent's version is not checked. */
function describeLink({ parent, target, relation, route: { method, isItem } }: NestedRoute): NestedPart {
  const rows = joinModelSubject(parent, relation)
  const body = rows !== null && isItem && method === 'put' ? () => buildUpsertSchema(rows) : null
  const takes: Operation['body'] = isItem ? (body === null ? null : 'object') : 'array'
  const sets = new Set(relation.joinModel?.keys)
  const parts =
    rows === null
      ? []
      : (JOIN_MODEL_OPERATIONS[`${method}${isItem ? ' item' : ''}`] ?? []).map((name) =>
          createNestedPermission(rows, name),
        )
  const permissions: readonly RequiredPermission[] = [
    { ...createPermission(target, 'getById'), isLinkChange: true },
    ...parts.map((part): RequiredPermission => {
      // The body contains the version of the updated join row.
      const intent = part.operation === 'update' ? 'update' : part.row.intent
      return { ...part, row: { ...part.row, body: takes, intent }, assignedAttributes: sets }
    }),
    {
      ...createPermission(parent, 'update'),
      row: { ...parent.resource.operationTable.update, body: takes, intent: 'restore' },
    },
  ]
  if (isItem) return body === null ? { permissions } : { body, isBodyOptional: true, permissions }
  return { body: () => listSchema(buildKeySchema(target), parent.resource.limits.bulkItems), permissions }
}

/** Operations on the join model. */
const JOIN_MODEL_OPERATIONS: Readonly<Record<string, readonly OperationName[]>> = {
  'put item': ['create', 'update'],
  'delete item': ['delete'],
  put: ['create', 'delete'],
  post: ['create'],
}
