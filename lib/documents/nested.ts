import type { DocumentOptions } from '../../types/openApi.js'
import type { Relation } from '../../types/resource.js'
import { typeName } from '../compile/names.js'
import { kindOf, RELATION_ROUTES, type RelationKind, type RelationRoute } from '../nested/routes.js'
import { singularize } from '../sequelize/words.js'
import { asked } from './asked.js'
import type { Draft } from './components.js'
import { ownedBy } from './held.js'
import { DONE, linkAsks, linkBody, linked } from './links.js'
import { ENTRIES, type OperationEntry } from './operations.js'
import { keyParameter, pathParameters } from './parameters.js'
import { operationOf, type Route } from './routes.js'
import { ownedOf } from './shapes.js'
import type { Subject } from './subjects.js'

/** What a document says of a route below a record; what is told of the records is the target's. */
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

/** By method, whether a key follows, and what the relation leads to. */
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
    replies: () => DONE,
  },
  'delete item linked': {
    id: (owner, one) => `unlink${owner}${one}`,
    summary: (owner, relation) => `Unlink one of the ${relation} from one ${owner}`,
    replies: () => DONE,
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

/** The routes of relations, below those of each record. @throws CrudConfigError where nobody speaks for what is behind one */
export function nestedRoutes(draft: Draft, subject: Subject, options: DocumentOptions): readonly Route[] {
  const { resource } = subject
  return resource.nested.flatMap(({ json }) => {
    const relation = resource.relations().get(json.toLowerCase())
    return relation === undefined ? [] : routesOf(draft, subject, relation, options)
  })
}

function routesOf(draft: Draft, subject: Subject, relation: Relation, options: DocumentOptions): readonly Route[] {
  const { resource, names, path, at } = subject
  const parties = { owner: resource, target: relation.speaker(), link: relation.link?.speaker() ?? null }
  const kind = kindOf(relation)
  const target = draft.subjects.of(parties.target, at)
  const many = typeName(relation.json)
  const one = relation.many ? singularize(many) : many
  return RELATION_ROUTES.filter(({ kinds, isServed }) => kinds.has(kind) && isServed(parties)).flatMap((route) => {
    const { method, item, asks, writes } = route
    const entry = NESTED[placeOf(route, kind)]
    if (entry === undefined) return []
    const creates = asks.target === 'create'
    const link = kind === 'linked' && writes ? { owner: subject, target, relation, route } : null
    const operation = operationOf(draft, options, {
      id: entry.id(names.one, one, many),
      summary: entry.summary(names.one, relation.json),
      tag: names.many,
      entry: {
        ...entry,
        ...(creates ? { body: () => ownedOf(draft, subject, relation, target) } : {}),
        ...(link === null ? {} : linkBody(draft, link)),
      },
      subject: target,
      above: [...pathParameters(subject, true), ...(item ? [keyParameter(target, 'key')] : [])],
      body: { method },
      asks:
        link === null
          ? [
              asked(subject, asks.owner),
              { ...asked(target, asks.target), ...(creates ? { sets: ownedBy(relation) } : {}) },
            ]
          : linkAsks(draft, link),
    })
    return [
      { path: `${path}/{id}/${relation.json}${item ? '/{key}' : ''}`, method, operation, relation: relation.json },
    ]
  })
}

/** Where a route stands in the table of entries. */
export function placeOf({ method, item }: Pick<RelationRoute, 'method' | 'item'>, kind: RelationKind): Place {
  return `${method}${item ? ' item' : ''} ${kind}`
}
