import type { Call } from '../../types/call.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import type { Method } from '../operations.js'
import { listOperationOf } from '../parse/operationTests.js'
import { createNested } from './create.js'
import * as links from './links.js'
import { listNested, readNested } from './read.js'
import type { NestedRequest } from './request.js'

/** Kind of a relation: one record, children, or linked records (many-to-many). */
export type RelationKind = 'one' | 'many' | 'linked'

/** Resources behind a relation's routes. */
export interface RelationResources {
  readonly parent: Resource
  readonly target: Resource
  readonly joinModelResource: Resource | null
}

/** Route below the route of a record. */
export interface RelationRoute {
  readonly method: Method
  /** Whether the route also supports the QUERY method. */
  readonly queried?: true
  /** Whether the key of a record behind the relation follows the relation's name. */
  readonly isItem: boolean
  readonly kinds: ReadonlySet<RelationKind>
  /** Whether the resources enable the operations that the route needs. */
  readonly isEnabled: (parties: RelationResources) => boolean
  /** Operations of parent and target whose policies are evaluated before any read. */
  readonly policies: { readonly parent: OperationName; readonly target: OperationName }
  /** Returns the operation of the target, instead of `policies.target`, if several operations share the route. */
  readonly resolveOperation?: (target: Resource, call: Call, isFile: boolean) => OperationName
  /** Whether the route writes a foreign key, which the caller must be allowed to write. */
  readonly isWrite: boolean
  readonly handle: (request: NestedRequest) => Promise<Reply>
}

/** Linking counts as an update of the parent. The caller must be allowed to read the linked records by key. */
const LINK_POLICIES = {
  kinds: new Set(['linked'] as const),
  isEnabled: ({ parent }: RelationResources) => parent.operations.has('update'),
  policies: { parent: 'update', target: 'getById' },
  isWrite: true,
} as const

/** Table of all routes below relations. */
export const RELATION_ROUTES: readonly RelationRoute[] = Object.freeze([
  {
    method: 'get',
    isItem: false,
    kinds: new Set(['one']),
    isEnabled: ({ target }) => target.operations.has('getById'),
    policies: { parent: 'getById', target: 'getById' },
    isWrite: false,
    handle: readNested,
  },
  {
    method: 'get',
    isItem: false,
    kinds: new Set(['many', 'linked']),
    isEnabled: ({ target, joinModelResource }) =>
      target.operations.has('getList') && (joinModelResource === null || hasReads(joinModelResource)),
    policies: { parent: 'getById', target: 'getList' },
    queried: true,
    resolveOperation: listOperationOf,
    isWrite: false,
    handle: listNested,
  },
  {
    method: 'post',
    isItem: false,
    kinds: new Set(['many']),
    isEnabled: ({ target }) => target.operations.has('create'),
    policies: { parent: 'getById', target: 'create' },
    isWrite: true,
    handle: createNested,
  },
  { ...LINK_POLICIES, method: 'put', isItem: true, handle: links.createLinkHandler('add') },
  { ...LINK_POLICIES, method: 'delete', isItem: true, handle: links.createLinkHandler('remove') },
  { ...LINK_POLICIES, method: 'put', isItem: false, handle: links.createBatchLinkHandler('set') },
  { ...LINK_POLICIES, method: 'post', isItem: false, handle: links.createBatchLinkHandler('add') },
] satisfies RelationRoute[])

/** Whether a resource over a join model serves reads. Otherwise paths cannot use the join model. */
function hasReads({ operations }: Resource): boolean {
  return operations.has('getById') || operations.has('getList')
}

export function relationKindOf({ many, joinModel }: Relation): RelationKind {
  if (joinModel !== null) return 'linked'
  return many ? 'many' : 'one'
}
