import { STATUS_CODES } from 'node:http'
import type {
  DocumentedOperation,
  DocumentOptions,
  DocumentSecurity,
  JsonSchema,
  SecurityRequirement,
} from '../../types/openApi.js'
import type { OperationName, Relation } from '../../types/resource.js'
import { typeName } from '../compile/names.js'
import { takesBearer } from '../identity/identity.js'
import { kindOf, RELATION_ROUTES, type RelationKind, type RelationRoute } from '../nested/routes.js'
import { entriesOf, type Method, OPERATIONS, type Operation } from '../operations.js'
import { singularize } from '../sequelize/words.js'
import { type Asked, aside, asked, betweenOf, decidedBy, partsOf } from './asked.js'
import { componentName, type Draft, SHARED } from './components.js'
import { ENTRIES, json, type OperationEntry, type Replies, requestOf } from './operations.js'
import { numberOf } from './pages.js'
import { idempotencyKey, keyParameter, pathParameters } from './parameters.js'
import { headersOf, isOnce, problemsOf } from './problems.js'
import { ownedBy, ownedOf, upsertOf } from './shapes.js'
import type { Subject } from './subjects.js'
import { keysOf } from './values.js'

/** An operation of a document and its place. */
export interface Route {
  readonly path: string
  readonly method: Method
  readonly operation: DocumentedOperation
  /** The relation that it leads to; absent on a resource's own routes. */
  readonly relation?: string
}

/** The operations on a resource's own routes: the collection, then fixed paths below it, then records. */
export function ownRoutes(draft: Draft, subject: Subject, options: DocumentOptions): readonly Route[] {
  const { names, path } = subject
  return entriesOf(OPERATIONS)
    .filter(([name]) => isToldOf(subject, name))
    .toSorted(([, one], [, other]) => rankOf(one) - rankOf(other))
    .map(([name, row]) => {
      const entry = ENTRIES[name]
      const operation = operationOf(draft, options, {
        id: entry.id(names),
        summary: entry.summary(names),
        tag: names.many,
        entry,
        subject,
        above: pathParameters(subject, row.path.startsWith('/:id')),
        body: row,
        asks: [asked(subject, name)],
      })
      const below = row.path === '/' ? '' : row.path.replaceAll(/:(\w+)/g, '{$1}')
      return { path: path === '/' ? below || '/' : path + below, method: row.method, operation }
    })
}

/** Whether an operation has an entry of its own, and not that of another one which shares its route. */
function isToldOf({ resource: { operations } }: Subject, name: OperationName): boolean {
  return operations.has(name) && !ENTRIES[name].within?.some((other) => operations.has(other))
}

function rankOf({ path }: Operation): number {
  if (path === '/') return 0
  return path.startsWith('/:') ? 2 : 1
}

interface Telling {
  readonly id: string
  readonly summary: string
  readonly tag: string
  readonly entry: Omit<OperationEntry, 'id' | 'summary'>
  /** The resource of the records. */
  readonly subject: Subject
  /** The parameters of the path. */
  readonly above: readonly JsonSchema[]
  /** The method and formats of its body. */
  readonly body: Pick<Operation, 'method' | 'lines'>
  /** The operations whose permission it needs. The last one is its own. */
  readonly asks: readonly Asked[]
}

function operationOf(draft: Draft, { security }: DocumentOptions, telling: Telling): DocumentedOperation {
  const { id, summary, tag, entry, subject, above, body, asks } = telling
  const description = entry.describe?.(subject) ?? null
  const own = asks.slice(-1)
  const all = [...asks, ...own.flatMap((each) => partsOf(draft, each))]
  const once = own.filter(isOnce)
  const keys = once.map(({ subject: { resource } }) => idempotencyKey(resource.documented.keyed))
  const parameters = [...above, ...keys, ...(entry.parameters?.(subject) ?? [])]
  const shared = parameters.map((parameter) => sharedParameter(draft, subject, parameter))
  return {
    operationId: id,
    summary,
    ...(description === null ? {} : { description }),
    tags: [tag],
    ...(shared.length === 0 ? {} : { parameters: shared }),
    ...requestOf(draft, subject, entry, body),
    responses: {
      ...sharedReplies(draft, entry.replies(draft, subject), once.length > 0),
      ...Object.assign({}, ...all.map((each) => problemsOf(draft, each))),
    },
    security: securityOf(draft, all, security),
  }
}

/** The parameters that name fields of the resource. */
const OF_FIELDS: ReadonlySet<string> = new Set(['filter', 'sort', 'select', 'search', 'by'])

function sharedParameter({ components }: Draft, { names }: Subject, parameter: JsonSchema): JsonSchema {
  const name = String(parameter.name)
  return components.share('parameters', (OF_FIELDS.has(name) ? names.one : '') + componentName(name), parameter)
}

function sharedReplies(draft: Draft, replies: Replies, isOnce: boolean): Readonly<Record<string, JsonSchema>> {
  const replayed = isOnce ? headersOf(draft, ['Idempotency-Replayed']).headers : null
  const shared = Object.entries<JsonSchema>(replies).map(([status, reply]) => {
    const content = replayed === null ? reply : { ...reply, headers: { ...Object(reply.headers), ...Object(replayed) } }
    return [status, draft.components.share('responses', componentName(STATUS_CODES[status] ?? status), content)]
  })
  return Object.fromEntries(shared)
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A JSON Web Token in the header `Authorization`.',
} as const

/**
 * How callers identify themselves: required if a policy is always evaluated, optional if policies, masks or a scope concern
 * some requests. The scheme of `jwtIdentity` is known; others are given.
 */
function securityOf(
  { components }: Draft,
  asks: readonly Asked[],
  given: DocumentSecurity | undefined,
): readonly SecurityRequirement[] {
  const decisions = asks.map(decidedBy)
  const resources = asks.map(({ subject }) => subject.resource)
  const looks = resources.some(({ documented }) => documented.masks.size > 0 || documented.scoped)
  if (!looks && decisions.every((each) => each === 'never')) return []
  const isBearer = resources.some(({ identity }) => identity !== null && takesBearer(identity))
  const requirement = isBearer ? [{ bearerAuth: [] }] : (given?.requirement ?? [])
  if (requirement.length === 0) return []
  if (isBearer) components.refer('securitySchemes', 'bearerAuth', SHARED, () => BEARER)
  for (const name of isBearer ? [] : requirement.flatMap((each) => Object.keys(each))) {
    const scheme = given?.schemes[name]
    if (scheme !== undefined) components.refer('securitySchemes', name, scheme, () => ({ ...scheme }))
  }
  return decisions.includes('always') ? requirement : [...requirement, {}]
}

// ---------------------------------------------------------------- routes below records

/** A route below a record. Its records are those of the target. */
interface NestedEntry extends Omit<OperationEntry, 'id' | 'summary'> {
  /** Of the owner's name and those of the relation: `Team`, `Player`, `Players`. */
  readonly id: (owner: string, one: string, many: string) => string
  readonly summary: (owner: string, relation: string) => string
}

type Place = `${RelationRoute['method']}${'' | ' item'} ${RelationKind}`

const LIST: NestedEntry = {
  ...ENTRIES.getList,
  id: (owner, _, many) => `list${owner}${many}`,
  summary: (owner, relation) => `List the ${relation} of one ${owner}`,
}

const done = (): Replies => ({ 204: { description: 'It is done.' } })
const linked = (draft: Draft): Replies => ({
  200: json(draft, 'How many links were made, and undone.', numberOf(draft, 'Linked')),
})

/** By method, whether a key follows, and the kind of the relation. */
export const NESTED: { readonly [place in Place]?: NestedEntry } = {
  'get one': {
    ...ENTRIES.getById,
    id: (owner, one) => `get${owner}${one}`,
    summary: (owner, relation) => `Get the ${relation} of one ${owner}`,
  },
  'get many': LIST,
  'get linked': LIST,
  'post many': {
    ...ENTRIES.create,
    id: (owner, one) => `create${owner}${one}`,
    summary: (owner, relation) => `Create one of the ${relation} of one ${owner}`,
    describe: () => 'The owner is that of the path; its key may be in the body as well.',
  },
  'put item linked': {
    id: (owner, one) => `link${owner}${one}`,
    summary: (owner, relation) => `Link one of the ${relation} to one ${owner}`,
    replies: done,
  },
  'delete item linked': {
    id: (owner, one) => `unlink${owner}${one}`,
    summary: (owner, relation) => `Unlink one of the ${relation} from one ${owner}`,
    replies: done,
  },
  'put linked': {
    id: (owner, _, many) => `set${owner}${many}`,
    summary: (owner, relation) => `Set the ${relation} of one ${owner}`,
    describe: () => 'These are linked then, and no others that the caller may meet.',
    replies: linked,
  },
  'post linked': {
    id: (owner, _, many) => `add${owner}${many}`,
    summary: (owner, relation) => `Link several ${relation} to one ${owner}`,
    replies: linked,
  },
}

/** The routes below records. @throws CrudConfigError for a relation whose target no resource is mounted over */
export function nestedRoutes(draft: Draft, subject: Subject, options: DocumentOptions): readonly Route[] {
  const { resource } = subject
  return resource.nested.flatMap(({ json }) => {
    const relation = resource.relations().get(json.toLowerCase())
    return relation === undefined ? [] : relationRoutes(draft, subject, relation, options)
  })
}

function relationRoutes(draft: Draft, owner: Subject, relation: Relation, options: DocumentOptions): readonly Route[] {
  const { names, path } = owner
  const parties = { owner: owner.resource, target: relation.speaker(), link: relation.link?.speaker() ?? null }
  const kind = kindOf(relation)
  const target = draft.subjects.of(parties.target, owner.at)
  const many = typeName(relation.json)
  const one = relation.many ? singularize(many) : many
  return RELATION_ROUTES.filter(({ kinds, isServed }) => kinds.has(kind) && isServed(parties)).flatMap((route) => {
    const { method, item } = route
    const entry = NESTED[placeOf(route, kind)]
    if (entry === undefined) return []
    const link = kind === 'linked' && route.writes ? { owner, target, relation, route } : null
    const { body, asks } = link === null ? recordPart(draft, owner, relation, target, route) : linkPart(draft, link)
    const operation = operationOf(draft, options, {
      id: entry.id(names.one, one, many),
      summary: entry.summary(names.one, relation.json),
      tag: names.many,
      entry: { ...entry, ...body },
      subject: target,
      above: [...pathParameters(owner, true), ...(item ? [keyParameter(target, 'key')] : [])],
      body: { method },
      asks,
    })
    const place = `${path}/{id}/${relation.json}${item ? '/{key}' : ''}`
    return [{ path: place, method, operation, relation: relation.json }]
  })
}

/** The body of a route below a record, and the operations whose permission it needs. */
interface Part {
  readonly body: Pick<OperationEntry, 'body' | 'isBodyOptional'>
  readonly asks: readonly Asked[]
}

function recordPart(draft: Draft, owner: Subject, relation: Relation, target: Subject, route: RelationRoute): Part {
  const isCreate = route.asks.target === 'create'
  const own = asked(target, route.asks.target)
  return {
    body: isCreate ? { body: () => ownedOf(draft, owner, relation, target) } : {},
    asks: [asked(owner, route.asks.owner), isCreate ? { ...own, sets: ownedBy(relation) } : own],
  }
}

interface LinkRoute {
  readonly owner: Subject
  readonly target: Subject
  readonly relation: Relation
  readonly route: RelationRoute
}

/** Links are a change of the owner, which is not held against the owner's version. */
function linkPart(draft: Draft, { owner, target, relation, route: { method, item } }: LinkRoute): Part {
  const between = betweenOf(draft, owner, relation)
  const row = item && method === 'put' ? between : null
  const takes: Operation['body'] = item ? (row === null ? null : 'object') : 'array'
  const sets = new Set(relation.link?.keys)
  const parts = between === null ? [] : (LINKING[`${method}${item ? ' item' : ''}`] ?? [])
  const linkBody: Part['body'] = row === null ? {} : { body: () => upsertOf(draft, row), isBodyOptional: true }
  return {
    body: item ? linkBody : { body: () => keysOf(target, owner.resource.limits.bulkItems) },
    asks: [
      asked(target, 'getById'),
      ...parts.map((operation): Asked => {
        const part = aside(between ?? target, operation)
        // The version of a changed link is in the body.
        const intent = operation === 'update' ? operation : part.row.intent
        return { ...part, row: { ...part.row, body: takes, intent }, sets }
      }),
      { ...asked(owner, 'update'), row: { ...OPERATIONS.update, body: takes, intent: 'restore' } },
    ],
  }
}

/** The operations on rows of the join model. */
const LINKING: Readonly<Record<string, readonly OperationName[]>> = {
  'put item': ['create', 'update'],
  'delete item': ['delete'],
  put: ['create', 'delete'],
  post: ['create'],
}

export function placeOf({ method, item }: Pick<RelationRoute, 'method' | 'item'>, kind: RelationKind): Place {
  return `${method}${item ? ' item' : ''} ${kind}`
}
