import { STATUS_CODES } from 'node:http'
import type { Deprecation } from '../../types/deprecated.js'
import type { DocumentedOperation, JsonSchema } from '../../types/openApi.js'
import type { OperationName, Relation } from '../../types/resource.js'
import { arrayOf, defined, type Members, objectOf, TEXT } from '../codec/schema.js'
import { kindOf, RELATION_ROUTES, type RelationKind, type RelationRoute } from '../nested/routes.js'
import { type Operation, ownEntriesOf, type PathMethod } from '../operations.js'
import { LINES, MEDIA_TYPES } from '../parse/body.js'
import { QUERY_TYPES, TAKES_QUERY } from '../parse/queried.js'
import { actionEntry } from './actions.js'
import { type Asked, aside, asked, askedBy, betweenOf, partsOf } from './asked.js'
import { componentName } from './components.js'
import { deprecationHeaders, deprecationText } from './deprecated.js'
import { ENTRIES, json, listReplies, type OperationEntry, type Replies } from './operations.js'
import { numberOf } from './pages.js'
import { idempotencyKey, keyParameter, PREFER, pathParameters } from './parameters.js'
import { headersOf, isOnce, problemsOf } from './problems.js'
import { type Security, securityOf } from './security.js'
import { ownedBy, ownedOf, upsertOf } from './shapes.js'
import { belowOf, type Subject } from './subjects.js'
import { keyOf } from './values.js'

/** An operation of a document, with its path and method. */
export interface Route {
  /** Resource that owns the route. */
  readonly subject: Subject
  readonly path: string
  readonly method: PathMethod
  readonly operation: DocumentedOperation
  /** Relation of the route. Absent for a resource's own routes. */
  readonly relation?: string
}

/** Operations of a resource's own routes: collection, fixed paths below it, then records. */
export function ownRoutes(subject: Subject, security: Security): readonly Route[] {
  const { names, path, resource } = subject
  const isListed = (name: OperationName): boolean =>
    resource.operations.has(name) && !ENTRIES[name].within?.some((other) => resource.operations.has(other))
  const operations = ownEntriesOf(resource.table)
    .filter(([name]) => isListed(name))
    .map(([name, row]) => ({ row, entry: ENTRIES[name], asks: asked(subject, name) }))
  const actions = [...resource.actions.values()].map((action) => {
    const asks = askedBy(subject, action)
    return { row: asks.row, entry: actionEntry(action), asks }
  })
  return [...operations, ...actions]
    .toSorted((one, other) => rankOf(one.row) - rankOf(other.row))
    .flatMap(({ row, entry, asks }) => {
      const described: Described = {
        entry,
        words: names,
        tag: names.many,
        subject,
        deprecated: resource.documented.deprecated,
        above: pathParameters(subject, row.path.startsWith('/:id')),
        takes: row,
        asks: [asks],
      }
      const below = row.path === '/' ? '' : row.path.replaceAll(/:(\w+)/g, '{$1}')
      const place = path === '/' ? below || '/' : path + below
      return operationsOf(security, described, row).map((operation) => ({ subject, path: place, ...operation }))
    })
}

function rankOf({ path }: Operation): number {
  if (path === '/') return 0
  return path.startsWith('/:') ? 2 : 1
}

interface Described {
  readonly entry: OperationEntry
  /** Words for the operation id and summary. */
  readonly words: object
  readonly tag: string
  /** Resource of the records. */
  readonly subject: Subject
  /** Deprecation of the resource that owns the route, or null. */
  readonly deprecated: Deprecation | null
  /** Path parameters. */
  readonly above: readonly JsonSchema[]
  /** Method and body formats. */
  readonly takes: Pick<Operation, 'lines'> & { readonly method: PathMethod }
  /** Operations that need permission. The last one is the route's own operation. */
  readonly asks: readonly Asked[]
}

/** The operation with its method, and with QUERY if OpenAPI can express it. */
function operationsOf(
  security: Security,
  described: Described,
  { queried }: { readonly queried?: true | undefined },
): readonly Pick<Route, 'method' | 'operation'>[] {
  const isQueried = queried === true && TAKES_QUERY && described.subject.components.version !== '3.1'
  const all = isQueried ? [described, queriedOf(described)] : [described]
  return all.map((each) => ({ method: each.takes.method, operation: operationOf(security, each) }))
}

/** The operation as QUERY, with its query parameters in the body (RFC 10008). */
function queriedOf({ entry, asks, ...described }: Described): Described {
  const [id, summary] = entry.named
  const parametersOf = (subject: Subject): readonly JsonSchema[] => entry.parameters?.(subject) ?? []
  return {
    ...described,
    entry: {
      ...entry,
      named: [`${id}ByQuery`, summary],
      describe: () => 'The parameters are in the body: a form, or a flat JSON object. The response has no `Link`.',
      parameters: (subject) => parametersOf(subject).filter((parameter) => parameter.in !== 'query'),
      body: (subject) => bodyWith(parametersOf(subject).filter((parameter) => parameter.in === 'query')),
      isBodyOptional: true,
    },
    takes: { method: 'query' },
    asks: asks.map((each) => ({ ...each, isQueried: true })),
  }
}

/** Object schema of the parameters. Lists are comma-separated texts, as in a URL. */
function bodyWith(parameters: readonly JsonSchema[]): JsonSchema {
  const properties = parameters.map(({ name, description, schema }) => {
    const given: JsonSchema = Object(schema)
    return [String(name), { ...(given.type === 'array' ? TEXT : given), description }] as const
  })
  return objectOf(Object.fromEntries(properties), 'all')
}

function operationOf(
  security: Security,
  { entry, words, tag, subject, deprecated, above, takes, asks }: Described,
): DocumentedOperation {
  const [operationId = '', summary = ''] = entry.named.map((text) => filled(text, words))
  const headers = deprecationHeaders(deprecated)
  const described = [entry.describe?.(subject) ?? [], deprecated === null ? [] : deprecationText(deprecated)].flat()
  const own = asks.slice(-1)
  const all = [...asks, ...own.flatMap(partsOf)]
  const once = own.filter(isOnce)
  const keys = once.map((each) => idempotencyKey(each.subject.resource.documented.keyed))
  const parameters = [...above, ...keys, ...(entry.parameters?.(subject) ?? [])]
  const shared = parameters.map((parameter) => sharedParameter(subject, parameter))
  return {
    operationId,
    summary,
    ...(described.length === 0 ? {} : { description: described.join(' ') }),
    ...(deprecated === null ? {} : { deprecated: true as const }),
    tags: [tag],
    ...(shared.length === 0 ? {} : { parameters: shared }),
    ...requestOf(subject, entry, takes),
    responses: {
      ...sharedReplies(subject, entry.replies(subject), { ...headers, ...replayedIn(subject, once) }),
      ...Object.assign({}, ...all.map((each) => problemsOf(each, headers))),
    },
    security: securityOf(subject, all, security),
  }
}

function filled(text: string, words: object): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, word: string) => String(Reflect.get(words, word)))
}

/** Parameters that name fields of the resource. */
const OF_FIELDS: ReadonlySet<string> = new Set(['filter', 'sort', 'select', 'search', 'by'])

function sharedParameter({ components, names }: Subject, parameter: JsonSchema): JsonSchema {
  const name = String(parameter.name)
  return components.share('parameters', (OF_FIELDS.has(name) ? names.one : '') + componentName(name), parameter)
}

function requestOf(subject: Subject, { body, isBodyOptional }: OperationEntry, takes: Described['takes']): JsonSchema {
  if (body === undefined) return {}
  const schema = body(subject)
  const types = BODY_TYPES[takes.method] ?? MEDIA_TYPES.slice(0, 1)
  const content = Object.fromEntries([
    ...types.map((type) => [type, { schema }]),
    ...(takes.lines ? [[LINES, linesOf(subject, schema)]] : []),
  ])
  return { requestBody: { ...(isBodyOptional ? {} : { required: true }), content } }
}

/** Media types of bodies, by method. Default: JSON only. */
const BODY_TYPES: { readonly [method in PathMethod]?: readonly string[] } = { patch: MEDIA_TYPES, query: QUERY_TYPES }

/** Body with one JSON object per line. */
function linesOf({ components }: Subject, { items }: JsonSchema): JsonSchema {
  if (components.version === '3.1') return { schema: { ...TEXT, description: 'One JSON object per line.' } }
  return { itemSchema: items }
}

/** Header of responses that may be replayed. */
function replayedIn(subject: Subject, once: readonly Asked[]): Members {
  return once.length === 0 ? {} : Object(headersOf(subject, ['Idempotency-Replayed']).headers)
}

/** Responses with additional headers. */
function sharedReplies(subject: Subject, replies: Replies, more: Members): Readonly<Record<string, JsonSchema>> {
  const { components } = subject
  const isPlain = Object.keys(more).every((name) => name === 'Idempotency-Replayed')
  const shared = Object.entries(replies).map(([status, { name, description, headers = [], content }]) => {
    const reply = defined({ description, ...headersOf(subject, headers), content })
    if (name !== undefined && isPlain) return [status, components.refer('responses', name, () => reply)]
    const whole = Object.keys(more).length === 0 ? reply : { ...reply, headers: { ...Object(reply.headers), ...more } }
    return [status, components.share('responses', componentName(name ?? STATUS_CODES[status] ?? status), whole)]
  })
  return Object.fromEntries(shared)
}

// ---------------------------------------------------------------- routes below records

type Place = `${RelationRoute['method']}${'' | ' item'} ${RelationKind}`

const LIST: OperationEntry = {
  ...ENTRIES.getList,
  named: ['list{many}', 'List the {relation} of one {owner}'],
}

const done = (): Replies => ({ 204: { description: 'The write is done.', headers: ['Preference-Applied'] } })
const linked = (subject: Subject): Replies => ({
  200: json('The numbers of added and removed links.', numberOf(subject, 'Linked'), ['Preference-Applied']),
})
const counted = (): readonly JsonSchema[] => [PREFER.counted]

/** Entries of routes below records, by method, presence of a key, and kind of relation. */
export const NESTED: { readonly [place in Place]?: OperationEntry } = {
  'get one': {
    ...ENTRIES.getById,
    named: ['get{one}', 'Get the {relation} of one {owner}'],
  },
  'get many': LIST,
  'get linked': LIST,
  'post many': {
    ...ENTRIES.create,
    named: ['create{one}', 'Create one of the {relation} of one {owner}'],
    describe: () => 'The path has the key of the owner. The body may repeat it.',
  },
  'put item linked': {
    named: ['link{one}', 'Link one of the {relation} to one {owner}'],
    parameters: counted,
    replies: done,
  },
  'delete item linked': {
    named: ['unlink{one}', 'Unlink one of the {relation} from one {owner}'],
    parameters: counted,
    replies: done,
  },
  'put linked': {
    named: ['set{many}', 'Set the {relation} of one {owner}'],
    describe: () => 'Links these records and removes all other links that the caller may see.',
    parameters: counted,
    replies: linked,
  },
  'post linked': {
    named: ['add{many}', 'Link several {relation} to one {owner}'],
    parameters: counted,
    replies: linked,
  },
}

export function placeOf({ method, item }: Pick<RelationRoute, 'method' | 'item'>, kind: RelationKind): Place {
  return `${method}${item ? ' item' : ''} ${kind}`
}

/** Writes the routes below records. @throws CrudConfigError for a relation whose target has no resource */
export function nestedRoutes(subject: Subject, security: Security): readonly Route[] {
  const { resource } = subject
  const relations = resource.nested.flatMap(({ json }) => resource.relations().get(json.toLowerCase()) ?? [])
  return relations.flatMap((relation) => relationRoutes(subject, relation, security))
}

function relationRoutes(owner: Subject, relation: Relation, security: Security): readonly Route[] {
  const { names, path } = owner
  const { json } = relation
  const target = owner.of(relation.speaker())
  const parties = { owner: owner.resource, target: target.resource, link: relation.link?.speaker() ?? null }
  const kind = kindOf(relation)
  const isSingleton = owner.resource.behaviours.ownKey !== null
  const words = {
    owner: names.one,
    relation: json,
    many: belowOf(owner, relation, 'many'),
    one: belowOf(owner, relation, relation.many ? 'one' : 'many'),
  }
  const routes = RELATION_ROUTES.filter(({ kinds, isServed }) => kinds.has(kind) && isServed(parties))
  return routes.flatMap((route) => {
    const { method, item, writes } = route
    const entry = NESTED[placeOf(route, kind)]
    if (entry === undefined) return []
    const below = { owner, target, relation, route }
    const { asks, ...body } = kind === 'linked' && writes ? linkPart(below) : recordPart(below)
    const described: Described = {
      entry: { ...entry, ...body, ...linkedPart(below, kind) },
      words,
      tag: names.many,
      subject: target,
      deprecated: owner.resource.documented.deprecated,
      above: [...pathParameters(owner, !isSingleton), ...(item ? [keyParameter(target, 'key')] : [])],
      takes: { method },
      asks,
    }
    const place = `${path}${isSingleton ? '' : '/{id}'}/${json}${item ? '/{key}' : ''}`
    return operationsOf(security, described, route).map((operation) => {
      return { subject: owner, path: place, relation: json, ...operation }
    })
  })
}

interface Below {
  readonly owner: Subject
  readonly target: Subject
  readonly relation: Relation
  readonly route: RelationRoute
}

/** Body of a route below a record, and the operations that need permission. */
type Part = Pick<OperationEntry, 'body' | 'isBodyOptional'> & Pick<Described, 'asks'>

/** List of a many-to-many relation with readable join rows. */
function linkedPart({ owner, relation, route: { writes } }: Below, kind: RelationKind): Partial<OperationEntry> {
  const row = relation.link?.row() ?? null
  if (kind !== 'linked' || writes || row === null) return {}
  const told = `Paths can read the row that links a record to the owner: \`${row.json}\`.`
  return {
    describe: (subject) => [ENTRIES.getList.describe?.(subject) ?? [], told].flat().join(' '),
    replies: (subject) => listReplies(subject, { owner, relation }),
  }
}

function recordPart({ owner, target, relation, route }: Below): Part {
  const [above, own] = [asked(owner, route.asks.owner), asked(target, route.asks.target)]
  if (route.asks.target !== 'create') return { asks: [above, own] }
  return { body: () => ownedOf(owner, relation, target), asks: [above, { ...own, sets: ownedBy(relation) }] }
}

/** Links are updates of the owner, but without a check of the owner's version. */
function linkPart({ owner, target, relation, route: { method, item } }: Below): Part {
  const rows = betweenOf(owner, relation)
  const body = rows !== null && item && method === 'put' ? () => upsertOf(rows) : null
  const takes: Operation['body'] = item ? (body === null ? null : 'object') : 'array'
  const sets = new Set(relation.link?.keys)
  const parts = rows === null ? [] : (LINKING[`${method}${item ? ' item' : ''}`] ?? []).map((name) => aside(rows, name))
  const asks: readonly Asked[] = [
    { ...asked(target, 'getById'), isLinked: true },
    ...parts.map((part): Asked => {
      // The body has the version of the updated join row.
      const intent = part.operation === 'update' ? 'update' : part.row.intent
      return { ...part, row: { ...part.row, body: takes, intent }, sets }
    }),
    { ...asked(owner, 'update'), row: { ...owner.resource.table.update, body: takes, intent: 'restore' } },
  ]
  if (item) return body === null ? { asks } : { body, isBodyOptional: true, asks }
  return { body: () => arrayOf(keyOf(target), owner.resource.limits.bulkItems), asks }
}

/** Operations on the join model. */
const LINKING: Readonly<Record<string, readonly OperationName[]>> = {
  'put item': ['create', 'update'],
  'delete item': ['delete'],
  put: ['create', 'delete'],
  post: ['create'],
}
