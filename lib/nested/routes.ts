import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import type { Method } from '../operations.js'
import { listOperation } from '../parse/meant.js'
import { create } from './create.js'
import * as links from './links.js'
import { list, one } from './read.js'
import type { NestedRequest } from './request.js'

/** Kind of a relation: one record, children, or linked records (many-to-many). */
export type RelationKind = 'one' | 'many' | 'linked'

/** The resources behind a relation's routes. */
export interface Parties {
  readonly owner: Resource
  readonly target: Resource
  readonly link: Resource | null
}

/** A route below the route of a record. */
export interface RelationRoute {
  readonly method: Method
  /** Whether the QUERY method is supported as well. */
  readonly queried?: true
  /** Whether the key of a record behind the relation follows the relation's name. */
  readonly item: boolean
  readonly kinds: ReadonlySet<RelationKind>
  /** Whether the route exists: the operation that it represents must be enabled. */
  readonly isServed: (parties: Parties) => boolean
  /** Operations of the owner and the target whose policies are evaluated before any read. */
  readonly asks: { readonly owner: OperationName; readonly target: OperationName }
  /** Operation of the target instead of `asks.target`, if several operations share the route. */
  readonly meant?: (target: Resource, call: Call, isFile: boolean) => OperationName
  /** Whether the route writes a foreign key, which the caller must be allowed to write. */
  readonly writes: boolean
  readonly answer: (request: NestedRequest) => Promise<Reply>
}

/** Linking updates the owner. The caller must be allowed to read the linked records by key. */
const LINKS = {
  kinds: new Set(['linked'] as const),
  isServed: ({ owner }: Parties) => owner.operations.has('update'),
  asks: { owner: 'update', target: 'getById' },
  writes: true,
} as const

/** Table of all routes below relations. */
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

/** Whether a resource over a join model serves reads. Only then do paths use the join model. */
function isRead({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

export function kindOf({ many, link }: Relation): RelationKind {
  if (link !== null) return 'linked'
  return many ? 'many' : 'one'
}
