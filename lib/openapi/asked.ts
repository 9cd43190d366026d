import type { Action } from '../../types/action.js'
import type { Relation } from '../../types/resource.js'
import { type IntentKind, type Operation, type OperationName, ownEntriesOf } from '../operations.js'
import type { Subject } from './subjects.js'

/** An operation that a request needs permission for. */
export interface Asked {
  readonly subject: Subject
  readonly operation: OperationName
  readonly row: Operation
  /** Action in place of the operation. Absent for the operation itself. */
  readonly action?: Action
  /** Whether the request has its parameters in a QUERY body. */
  readonly isQueried?: true
  /** Whether only some bodies need the permission. */
  readonly isPart?: true
  /** Whether the request links or unlinks the record. The scope of the record may reject it. */
  readonly isLinked?: true
  /** Attributes that the request itself sets. */
  readonly sets?: ReadonlySet<string>
}

export function asked(subject: Subject, operation: OperationName): Asked {
  return { subject, operation, row: subject.resource.table[operation] }
}

/** Entry of an action. It has the problems of the operation that it represents. */
export function askedBy(subject: Subject, action: Action): Asked {
  const { method, path, operation, input } = action
  const body = method === 'post' && input !== null ? 'object' : null
  return { subject, operation, action, row: { ...subject.resource.table[operation], method, path, body } }
}

/** Entry of an operation as part of another one, without a record or version of its own. */
export function aside(subject: Subject, operation: OperationName): Asked {
  const row = subject.resource.table[operation]
  const intent = row.intent === 'create' ? 'create' : 'restore'
  return { subject, operation, row: { ...row, path: '/', body: 'object', intent }, isPart: true }
}

/** Operations on nested records. */
const ANY: readonly OperationName[] = ['create', 'update', 'delete']
const NESTED: { readonly [intent in IntentKind]?: readonly OperationName[] } = {
  create: ['create'],
  bulkCreate: ['create'],
  update: ANY,
  bulkUpdate: ANY,
  replace: ANY,
  upsert: ANY,
}

/** Operations on nested records of a body, at any depth. */
export function partsOf({ subject, row, action }: Asked): readonly Asked[] {
  if (action !== undefined) return []
  const found = new Map<string, Asked>()
  const add = (owner: Subject, operations: readonly OperationName[] = []): void => {
    for (const relation of heldBy(owner)) {
      const isLink = relation.link !== null
      const parts = isLink ? linkingOf(owner, relation, operations) : nestedOf(owner, relation, operations)
      for (const part of parts) {
        const key = `${part.subject.path} ${part.operation}`
        if (!isLink && found.has(key)) continue
        found.set(key, part)
        if (!isLink) add(part.subject, NESTED[part.row.intent])
      }
    }
  }
  add(subject, NESTED[row.intent])
  return [...found.values()]
}

type Parts = (owner: Subject, relation: Relation, operations: readonly OperationName[]) => readonly Asked[]

const nestedOf: Parts = (owner, relation, operations) => {
  const target = owner.of(relation.speaker())
  const sets = new Set([relation.ends.target])
  return operations.map((operation) => ({ ...asked(target, operation), isPart: true, sets }))
}

/** Operations for keys in a body: on the linked records, and on the join model. */
const linkingOf: Parts = (owner, relation, operations) => {
  if (operations.length === 0) return []
  const rows = betweenOf(owner, relation)
  const sets = new Set(relation.link?.keys)
  const parts =
    rows === null ? [] : operations.filter((operation) => operation !== 'update').map((each) => aside(rows, each))
  return [aside(owner.of(relation.speaker()), 'getById'), ...parts.map((part) => ({ ...part, sets }))]
}

/** Subject of a join model. */
export function betweenOf({ of }: Subject, { link }: Relation): Subject | null {
  const resource = link?.speaker() ?? null
  return resource === null ? null : of(resource)
}

/** Relations whose records a body of the resource may nest. */
export function heldBy({ resource }: Subject): readonly Relation[] {
  return resource.holds.flatMap((json) => resource.relations().get(json.toLowerCase()) ?? [])
}

/** Whether a replacement may create a missing record. */
export function makes({ resource: { keys } }: Subject): boolean {
  return keys.every(({ targets }) => targets.has('create'))
}

const LISTING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export'])

/** Whether policies are evaluated for all requests of a route, for some, or for none. */
export function decidedBy({ subject, operation, action, row, isPart }: Asked): 'always' | 'sometimes' | 'never' {
  const { documented, operations, softDeletes } = subject.resource
  if (action !== undefined) return documented.guarded.has(action.name) ? 'always' : 'never'
  const { policies } = documented
  // Operations that share the route and are selected by the request.
  const shared = ownEntriesOf(subject.resource.table).filter(
    ([name, { method, path }]) => method === row.method && path === row.path && operations.has(name),
  )
  const all = [operation, ...(LISTING.has(row.intent) ? shared.map(([name]) => name) : [])]
  if (!isPart && all.every((name) => policies.has(name))) return 'always'
  if (all.some((name) => policies.has(name))) return 'sometimes'
  if (row.intent === 'replace' && makes(subject) && policies.has('create')) return 'sometimes'
  // Reading deleted records has its own policy check if the resource has any policy.
  return LISTING.has(row.intent) && softDeletes && policies.size > 0 ? 'sometimes' : 'never'
}
