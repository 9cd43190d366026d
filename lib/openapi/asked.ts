import type { Relation } from '../../types/resource.js'
import { entriesOf, type IntentKind, OPERATIONS, type Operation, type OperationName } from '../operations.js'
import type { Draft } from './components.js'
import type { Subject } from './subjects.js'

/** An operation that a request needs the permission of. */
export interface Asked {
  readonly subject: Subject
  readonly operation: OperationName
  readonly row: Operation
  /** Whether only some bodies need it. */
  readonly isPart?: true
  /** The attributes that the request sets by itself. */
  readonly sets?: ReadonlySet<string>
}

export function asked(subject: Subject, operation: OperationName): Asked {
  return { subject, operation, row: OPERATIONS[operation] }
}

/** An operation as a part of another one, without a record and a version of its own. */
export function aside(subject: Subject, operation: OperationName): Asked {
  const intent = OPERATIONS[operation].intent === 'create' ? 'create' : 'restore'
  return { subject, operation, row: { ...OPERATIONS[operation], path: '/', body: 'object', intent }, isPart: true }
}

/** The operations on nested records, by the intent of the request. */
const ANY: readonly OperationName[] = ['create', 'update', 'delete']
const NESTED: { readonly [intent in IntentKind]?: readonly OperationName[] } = {
  create: ['create'],
  bulkCreate: ['create'],
  update: ANY,
  bulkUpdate: ANY,
  replace: ANY,
  upsert: ANY,
}

/** The operations on records that a body holds, and on the records that these hold in turn. */
export function partsOf(draft: Draft, { subject, row }: Asked): readonly Asked[] {
  const found = new Map<string, Asked>()
  const add = (owner: Subject, intent: IntentKind): void => {
    for (const { target, relation } of heldBy(draft, owner)) {
      const operations = NESTED[intent] ?? []
      if (relation.link !== null) {
        for (const part of linkingOf(draft, owner, relation, target, operations)) {
          found.set(`${part.subject.path} ${part.operation}`, part)
        }
        continue
      }
      for (const operation of operations) {
        const key = `${target.path} ${operation}`
        if (found.has(key)) continue
        const part: Asked = { ...asked(target, operation), isPart: true, sets: new Set([relation.ends.target]) }
        found.set(key, part)
        add(target, part.row.intent)
      }
    }
  }
  add(subject, row.intent)
  return [...found.values()]
}

/** The operations behind keys in a body: on the records, and on the rows of the join model. */
function linkingOf(
  draft: Draft,
  owner: Subject,
  relation: Relation,
  target: Subject,
  operations: readonly OperationName[],
): readonly Asked[] {
  if (operations.length === 0) return []
  const between = betweenOf(draft, owner, relation)
  const sets = new Set(relation.link?.keys)
  const parts = between === null ? [] : operations.filter((operation) => operation !== 'update')
  return [aside(target, 'getById'), ...parts.map((operation) => ({ ...aside(between ?? target, operation), sets }))]
}

/** The subject of a join model. */
export function betweenOf({ subjects }: Draft, { at }: Subject, { link }: Relation): Subject | null {
  const spoken = link?.speaker() ?? null
  return spoken === null ? null : subjects.of(spoken, at)
}

/** The relations whose records bodies of a resource may hold, with their subjects. */
export function heldBy(
  { subjects }: Draft,
  { resource, at }: Subject,
): readonly { readonly json: string; readonly relation: Relation; readonly target: Subject }[] {
  return resource.holds.flatMap((json) => {
    const relation = resource.relations().get(json.toLowerCase())
    return relation === undefined ? [] : [{ json, relation, target: subjects.of(relation.speaker(), at) }]
  })
}

/** Whether a replacement may create the record that it names. */
export function makes({ resource: { keys } }: Subject): boolean {
  return keys.every(({ targets }) => targets.has('create'))
}

const LISTING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export'])

/** Whether policies are evaluated for all requests of a route, for some, or for none. */
export function decidedBy({ subject, operation, row, isPart }: Asked): 'always' | 'sometimes' | 'never' {
  const { documented, operations, softDeletes } = subject.resource
  const { policies } = documented
  // Operations that share the route, and differ by what is sent.
  const shared = entriesOf(OPERATIONS).filter(
    ([name, { method, path }]) => method === row.method && path === row.path && operations.has(name),
  )
  const all = [operation, ...(LISTING.has(row.intent) ? shared.map(([name]) => name) : [])]
  if (!isPart && all.every((name) => policies.has(name))) return 'always'
  if (all.some((name) => policies.has(name))) return 'sometimes'
  if (row.intent === 'replace' && makes(subject) && policies.has('create')) return 'sometimes'
  // Deleted records have a policy of their own wherever there is any.
  return LISTING.has(row.intent) && softDeletes && policies.size > 0 ? 'sometimes' : 'never'
}
