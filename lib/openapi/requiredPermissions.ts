import type { Action } from '../../types/action.js'
import type { Relation } from '../../types/resource.js'
import { builtInOperationEntries, type IntentKind, type Operation, type OperationName } from '../operations.js'
import type { DescribedResource } from './subjects.js'

/** An operation that a request needs permission for. */
export interface RequiredPermission {
  readonly subject: DescribedResource
  readonly operation: OperationName
  readonly row: Operation
  /** The action that the request runs. Absent if the request runs the operation itself. */
  readonly action?: Action
  /** Whether the parameters of the request are in a QUERY body. */
  readonly hasQueryBody?: true
  /** Whether the operation is part of another operation, so that only some bodies need the permission. */
  readonly isNested?: true
  /** Whether the request links or unlinks the record. The scope of the record may reject it. */
  readonly isLinkChange?: true
  /** Attributes that the request itself sets. */
  readonly assignedAttributes?: ReadonlySet<string>
}

export function createPermission(subject: DescribedResource, operation: OperationName): RequiredPermission {
  return { subject, operation, row: subject.resource.operationTable[operation] }
}

/** Creates the permission for an action. The action has the problems of its operation, for example `update`. */
export function createActionPermission(subject: DescribedResource, action: Action): RequiredPermission {
  const { method, path, operation, input } = action
  const body = method === 'post' && input !== null ? 'object' : null
  return { subject, operation, action, row: { ...subject.resource.operationTable[operation], method, path, body } }
}

/**
 * Creates the permission for an operation that is part of another operation. Such an operation has no record or version
 * of its own.
 */
export function createNestedPermission(subject: DescribedResource, operation: OperationName): RequiredPermission {
  const row = subject.resource.operationTable[operation]
  const intent = row.intent === 'create' ? 'create' : 'restore'
  return { subject, operation, row: { ...row, path: '/', body: 'object', intent }, isNested: true }
}

/** Operations on nested records. */
const NESTED_WRITES: readonly OperationName[] = ['create', 'update', 'delete']
const NESTED_BY_INTENT: { readonly [intent in IntentKind]?: readonly OperationName[] } = {
  create: ['create'],
  bulkCreate: ['create'],
  update: NESTED_WRITES,
  bulkUpdate: NESTED_WRITES,
  replace: NESTED_WRITES,
  upsert: NESTED_WRITES,
}

/** The permissions for nested records of a body, at any depth. */
export function nestedPermissions({ subject, row, action }: RequiredPermission): readonly RequiredPermission[] {
  if (action !== undefined) return []
  const found = new Map<string, RequiredPermission>()
  const addNested = (parent: DescribedResource, operations: readonly OperationName[] = []): void => {
    for (const relation of nestableRelationsOf(parent)) {
      const isLink = relation.joinModel !== null
      const parts = isLink
        ? permissionsOfLinks(parent, relation, operations)
        : permissionsOfNested(parent, relation, operations)
      for (const part of parts) {
        const key = `${part.subject.path} ${part.operation}`
        if (!isLink && found.has(key)) continue
        found.set(key, part)
        if (!isLink) addNested(part.subject, NESTED_BY_INTENT[part.row.intent])
      }
    }
  }
  addNested(subject, NESTED_BY_INTENT[row.intent])
  return [...found.values()]
}

type FindNested = (
  parent: DescribedResource,
  relation: Relation,
  operations: readonly OperationName[],
) => readonly RequiredPermission[]

const permissionsOfNested: FindNested = (parent, relation, operations) => {
  const target = parent.subjectOf(relation.relatedResource())
  const sets = new Set([relation.attributes.target])
  return operations.map((operation) => ({
    ...createPermission(target, operation),
    isNested: true,
    assignedAttributes: sets,
  }))
}

/** Finds the operations for keys in a body, on the linked records and on the join model. */
const permissionsOfLinks: FindNested = (parent, relation, operations) => {
  if (operations.length === 0) return []
  const rows = joinModelSubject(parent, relation)
  const sets = new Set(relation.joinModel?.keys)
  const parts =
    rows === null
      ? []
      : operations.filter((operation) => operation !== 'update').map((each) => createNestedPermission(rows, each))
  return [
    createNestedPermission(parent.subjectOf(relation.relatedResource()), 'getById'),
    ...parts.map((part) => ({ ...part, assignedAttributes: sets })),
  ]
}

/** Subject of a join model. */
export function joinModelSubject({ subjectOf }: DescribedResource, { joinModel }: Relation): DescribedResource | null {
  const resource = joinModel?.joinModelResource() ?? null
  return resource === null ? null : subjectOf(resource)
}

/** Relations whose records a body of the resource may nest. */
export function nestableRelationsOf({ resource }: DescribedResource): readonly Relation[] {
  return resource.nestedRelations.flatMap((json) => resource.relations().get(json.toLowerCase()) ?? [])
}

/** Whether a replacement may create a missing record. */
export function canCreate({ resource: { keys } }: DescribedResource): boolean {
  return keys.every(({ targets }) => targets.has('create'))
}

const LIST_INTENTS: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export'])

/** Whether policies are evaluated for all requests of a route, for some requests, or for no request. */
export function policyCoverage({
  subject,
  operation,
  action,
  row,
  isNested,
}: RequiredPermission): 'always' | 'sometimes' | 'never' {
  const { documented, operations, softDeletes } = subject.resource
  if (action !== undefined) return documented.actionsWithPolicy.has(action.name) ? 'always' : 'never'
  const { policies } = documented
  // Several operations may share the route. The request chooses one of them.
  const shared = builtInOperationEntries(subject.resource.operationTable).filter(
    ([name, { method, path }]) => method === row.method && path === row.path && operations.has(name),
  )
  const all = [operation, ...(LIST_INTENTS.has(row.intent) ? shared.map(([name]) => name) : [])]
  if (!isNested && all.every((name) => policies.has(name))) return 'always'
  if (all.some((name) => policies.has(name))) return 'sometimes'
  if (row.intent === 'replace' && canCreate(subject) && policies.has('create')) return 'sometimes'
  // Reading deleted records is a separate policy check, if the resource has any policy.
  return LIST_INTENTS.has(row.intent) && softDeletes && policies.size > 0 ? 'sometimes' : 'never'
}
