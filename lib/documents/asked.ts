import type { Relation } from '../../types/resource.js'
import { entriesOf, type IntentKind, OPERATIONS, type Operation, type OperationName } from '../operations.js'
import type { Draft } from './components.js'
import type { Subject } from './subjects.js'

/** Who has a say in a request, and in what. */
export interface Asked {
  readonly subject: Subject
  readonly operation: OperationName
  readonly row: Operation
  /** True where it is asked only of what some bodies hold. */
  readonly isPart?: true
  /** The attributes that the request sets by itself. */
  readonly sets?: ReadonlySet<string>
}

/** An operation of a resource, as it is asked. */
export function asked(subject: Subject, operation: OperationName): Asked {
  return { subject, operation, row: OPERATIONS[operation] }
}

/** The intents of which a body may hold records of others, with what these may come to. */
const ANY: readonly OperationName[] = ['create', 'update', 'delete']
const HOLDING: { readonly [intent in IntentKind]?: readonly OperationName[] } = {
  create: ['create'],
  bulkCreate: ['create'],
  update: ANY,
  bulkUpdate: ANY,
  replace: ANY,
  upsert: ANY,
}

/** Those who have a say in the records that a body holds of others, and in what these hold in turn. */
export function partsOf(draft: Draft, { subject, row }: Asked): readonly Asked[] {
  const found = new Map<string, Asked>()
  const add = (owner: Subject, intent: IntentKind): void => {
    for (const { target, relation } of heldBy(draft, owner)) {
      if (relation.link !== null) {
        for (const part of linkingOf(draft, owner, relation, target, HOLDING[intent] ?? [])) {
          found.set(`${part.subject.path} ${part.operation}`, part)
        }
        continue
      }
      for (const operation of HOLDING[intent] ?? []) {
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

/** Those who have a say in keys that a body holds: of the records, and of the rows between that link them. */
function linkingOf(
  { subjects }: Draft,
  { at }: Subject,
  { link }: Relation,
  target: Subject,
  happens: readonly OperationName[],
): readonly Asked[] {
  if (happens.length === 0) return []
  const spoken = link?.speaker() ?? null
  const sets = new Set(link?.keys)
  const between = happens.filter((operation) => operation !== 'update')
  return [
    aside(target, 'getById'),
    ...(spoken === null ? [] : between.map((operation) => ({ ...aside(subjects.of(spoken, at), operation), sets }))),
  ]
}

/** An operation as a part of another one, which names no record of its own, nor a version. */
export function aside(subject: Subject, operation: OperationName): Asked {
  const { intent } = OPERATIONS[operation]
  const row: Operation = {
    ...OPERATIONS[operation],
    path: '/',
    body: 'object',
    intent: intent === 'create' ? intent : 'restore',
  }
  return { subject, operation, row, isPart: true }
}

/** The relations whose records bodies of a resource may hold, with who treats these. */
export function heldBy(
  { subjects }: Draft,
  { resource, at }: Subject,
): readonly { readonly json: string; readonly relation: Relation; readonly target: Subject }[] {
  return resource.holds.flatMap((json) => {
    const relation = resource.relations().get(json.toLowerCase())
    return relation === undefined ? [] : [{ json, relation, target: subjects.of(relation.speaker(), at) }]
  })
}

/** Whether a replacement may make the record that it names. */
export function makes({ resource: { keys } }: Subject): boolean {
  return keys.every(({ targets }) => targets.has('create'))
}

const LISTING: ReadonlySet<IntentKind> = new Set(['list', 'aggregate', 'export'])

/** Whether a policy decides on all requests of a route, on some, by what they ask for, or on none. */
export function decidedBy({ subject, operation, row, isPart }: Asked): 'always' | 'sometimes' | 'never' {
  const { documented, operations, softDeletes } = subject.resource
  const { policies } = documented
  // What shares the route, and is told apart by what is sent.
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
