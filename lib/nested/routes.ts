import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import type { Method } from '../operations.js'
import { listOperation } from '../parse/meant.js'
import { create } from './create.js'
import * as links from './links.js'
import { list, one } from './read.js'
import type { NestedRequest } from './request.js'

/** What a relation leads to: one record, those that belong to the owner, or those that are linked to it. */
export type RelationKind = 'one' | 'many' | 'linked'

/** The resources behind a relation's routes. */
export interface Parties {
  readonly owner: Resource
  readonly target: Resource
  readonly link: Resource | null
}

/** A route below that of a record. */
export interface RelationRoute {
  readonly method: Method
  /** Whether QUERY asks for it as well. */
  readonly queried?: true
  /** Whether the key of a record behind the relation follows its name. */
  readonly item: boolean
  readonly kinds: ReadonlySet<RelationKind>
  /** Whether there is such a route: it stands for an operation that must be served. */
  readonly isServed: (parties: Parties) => boolean
  /** What is asked of the owner, and of the target, before anything is read. */
  readonly asks: { readonly owner: OperationName; readonly target: OperationName }
  /** What is asked of the target instead, where requests tell several operations of it apart. */
  readonly meant?: (target: Resource, call: Call, isFile: boolean) => OperationName
  /** Whether a foreign key is written, which the caller must be allowed to. */
  readonly writes: boolean
  readonly answer: (request: NestedRequest) => Promise<Reply>
}

/** Linking is a change of the owner, by keys that the caller could read the records of. */
const LINKS = {
  kinds: new Set(['linked'] as const),
  isServed: ({ owner }: Parties) => owner.operations.has('update'),
  asks: { owner: 'update', target: 'getById' },
  writes: true,
} as const

/** The one table of what relations have routes for. */
export const RELATION_ROUTES: readonly RelationRoute[] = Object.freeze([
  {
    method: 'get',
    item: false,
    kinds: new Set(['one']),
    isServed: ({ target }) => target.operations.has('getById'),
    asks: { owner: 'getById', target: 'getById' },
    writes: false,
    answer: one,
  },
  {
    method: 'get',
    item: false,
    kinds: new Set(['many', 'linked']),
    isServed: ({ target, link }) => target.operations.has('getList') && (link === null || isRead(link)),
    asks: { owner: 'getById', target: 'getList' },
    queried: true,
    meant: listOperation,
    writes: false,
    answer: list,
  },
  {
    method: 'post',
    item: false,
    kinds: new Set(['many']),
    isServed: ({ target }) => target.operations.has('create'),
    asks: { owner: 'getById', target: 'create' },
    writes: true,
    answer: create,
  },
  { ...LINKS, method: 'put', item: true, answer: links.one('add') },
  { ...LINKS, method: 'delete', item: true, answer: links.one('remove') },
  { ...LINKS, method: 'put', item: false, answer: links.several('set') },
  { ...LINKS, method: 'post', item: false, answer: links.several('add') },
] satisfies RelationRoute[])

/** Paths cross a table between two others only where its own resource is read by somebody. */
function isRead({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

export function kindOf({ many, link }: Relation): RelationKind {
  if (link !== null) return 'linked'
  return many ? 'many' : 'one'
}
