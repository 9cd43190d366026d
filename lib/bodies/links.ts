import type { Intent } from '../../types/intent.js'
import type {
  BulkCreatePlan,
  BulkDeletePlan,
  Caller,
  GetPlan,
  KeyValue,
  Plan,
  Predicate,
  UpdatePlan,
} from '../../types/plan.js'
import type { OperationName, Relation, Resource } from '../../types/resource.js'
import type { Faults, LinkedBranch, Planned, Tie, Wanted } from '../../types/work.js'
import { fieldNamed, ofOwn } from '../common/columns.js'
import { acceptEach } from '../common/each.js'
import { isObject } from '../common/object.js'
import { both, confined } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { between } from '../compile/between.js'
import { holdersOf, isClosed, meetableOf, readStatedKey } from '../plan/index.js'
import { planFor } from '../read.js'
import { Complaints } from './elements.js'
import { type Body, matchIn, memberOf } from './holdings.js'
import { unexpected, unowned, versioned } from './plans.js'
import type { Session } from './session.js'

/** A relation whose records are linked by rows of a table between. */
export interface Linking {
  readonly json: string
  readonly relation: Relation
  readonly target: Resource
  /** By what the rows between are written. */
  readonly between: Resource
  readonly tie: Tie
  /** The foreign key between that points at the target, and what of the target it points at. */
  readonly key: Tie['key']
  readonly points: Tie['source']
  readonly isUnique: boolean
}

/** @throws CrudConfigError where there is no telling which resource speaks for the records, or the rows between */
export function linkingOf(owner: Resource, relation: Relation): Linking {
  const { link, ends, json } = relation
  if (link === null) throw new TypeError(`${json} has no table between its ends`)
  const target = relation.speaker()
  const resource = link.speaker() ?? between(link.model)
  return {
    json,
    relation,
    target,
    between: resource,
    tie: {
      source: fieldNamed(owner.fields, ends.source),
      key: fieldNamed(resource.fields, link.source),
      fixed: new Map([...link.fixed()].map(([name, value]) => [fieldNamed(resource.fields, name), value])),
    },
    key: fieldNamed(resource.fields, link.target),
    points: fieldNamed(target.fields, ends.target),
    isUnique: link.unique,
  }
}

const NONE: readonly Linking[] = Object.freeze([])

/** Those by which some bodies of a resource hold keys. One that is closed to the caller is none: its name is an unknown property. */
export function linkingsIn(resource: Resource, caller: Caller, bodies: readonly unknown[]): readonly Linking[] {
  if (resource.holds.length === 0) return NONE
  const named = resource.holds.filter((json) => bodies.some((body) => memberOf(body, json) !== undefined))
  if (named.length === 0) return NONE
  const relations = resource.relations()
  return named.flatMap((json) => {
    const relation = relations.get(json.toLowerCase())
    if (relation === undefined || relation.link === null) return []
    return isClosed(relation, holdersOf(relation, [], []), caller) ? [] : [linkingOf(resource, relation)]
  })
}

/** Making a link sets its foreign keys, which is a write of them. @throws Problem 403 for whom one is masked */
function assertLinkable(session: Session, { between: resource, tie, key }: Linking): void {
  const { writable } = resource.behaviours
  if (writable === null || [tie.key, key].every((field) => writable(field, session.caller))) return
  throw problem('forbidden', { detail: 'You may not do this.' })
}

/**
 * Asks for what the keys in bodies alone call for, before any record is looked at: of new records all keys are new links.
 *
 * @throws Problem 403
 */
export async function surveyLinks(
  session: Session,
  resource: Resource,
  bodies: readonly unknown[],
  areNew: boolean,
): Promise<void> {
  for (const linking of linkingsIn(resource, session.caller, bodies)) {
    for (const each of [linking.target, linking.between]) session.tell(each.behaviours.headers)
    const keys = bodies.flatMap((body) => memberOf(body, linking.json) ?? [])
    session.count(keys.length)
    await session.admit(linking.target, 'getById')
    if (areNew && keys.length > 0) {
      assertLinkable(session, linking)
      await session.admit(linking.between, 'create')
    }
  }
}

/** A key as a client has written it. */
export function wantedBy({ keys }: Resource, key: unknown, place: string, body: Body | null = null): Wanted {
  return { place, key: readStatedKey(keys, key) ?? undefined, body }
}

/** What bodies say of links, owner by owner: the members that are no arrays are among the faults. */
function keysIn(
  { json, target }: Linking,
  bodies: readonly unknown[],
  at: (index: number) => string,
): { readonly groups: LinkedBranch['groups']; readonly wrong: ReadonlyMap<string, 'array' | 'null'> } {
  const wrong = new Map<string, 'array' | 'null'>()
  const groups = bodies.map((body, index) => {
    const value = isObject(body) ? memberOf(body, json) : undefined
    if (value === undefined) return undefined
    const place = at(index) + json
    if (Array.isArray(value)) return value.map((key: unknown, nth) => wantedBy(target, key, `${place}[${nth}]`))
    wrong.set(place, value === null ? 'null' : 'array')
    return []
  })
  return { groups, wrong }
}

/** What the keys in bodies link their records to: with `set`, of a record that is there already, they are all. */
export function linked(
  session: Session,
  linking: Linking,
  mode: 'set' | 'add',
  { bodies, at }: { readonly bodies: readonly unknown[]; readonly at: (index: number) => string },
): Promise<LinkedBranch> {
  const { groups, wrong } = keysIn(linking, bodies, at)
  const complaints = new Complaints(linking.target)
  for (const [place, code] of wrong) complaints.add(place, code)
  return linkedBranch(session, linking, { mode, isOne: false, groups, faults: complaints.errors })
}

interface Change extends Pick<LinkedBranch, 'mode' | 'isOne' | 'groups'> {
  readonly faults: Faults
}

/** What becomes of links, with those who are asked on the way. The caller has been let in to read records by their keys. */
export async function linkedBranch(session: Session, linking: Linking, change: Change): Promise<LinkedBranch> {
  const { json, target, between: resource, tie, key, points, isUnique } = linking
  const planPart = (operation: OperationName, intent: Intent, places: readonly string[]) =>
    planned(session, resource, { operation, intent, places })
  return {
    kind: 'linked',
    json,
    resource: target,
    tie,
    ...change,
    between: resource,
    key,
    target: points,
    isUnique,
    meetable: await meetable(session, linking),
    guard: await meetableOf(resource, session.callerOf(resource, 'getList')),
    create: remembered(placesOf, async (wanted: readonly Wanted[]) => {
      assertLinkable(session, linking)
      await session.admit(resource, 'create')
      const bodies = wanted.map(({ body }) => body ?? {})
      const intent = { kind: 'bulkCreate', bodies, minimal: true, operation: 'create' } as const
      const places = wanted.map(({ place }) => place)
      const part = narrowed(resource, await planPart('create', intent, places), 'bulkCreate')
      const set: Tie = { ...tie, fixed: new Map([...tie.fixed, [key, null]]) }
      return { ...part, work: { ...part.work, plan: unowned(resource, part.work.plan, set) } }
    }),
    remove: remembered(JSON.stringify, async (keys: readonly KeyValue[]) => {
      await session.admit(resource, 'delete')
      return narrowed(resource, await planPart('delete', { kind: 'bulkDelete', keys }, []), 'bulkDelete')
    }),
    restore: remembered(String, async (of: KeyValue) => {
      assertLinkable(session, linking)
      await session.admit(resource, 'create')
      const intent = { kind: 'restore', key: String(of), minimal: true } as const
      return narrowed(resource, await planPart('create', intent, []), 'restore')
    }),
    update: remembered(placeOf, async ({ body, place }: Wanted, of: KeyValue) => {
      await session.admit(resource, 'update')
      const part = await planPart('update', updateOf(resource, body ?? {}, of), [place])
      const one = narrowed(resource, part, 'update')
      return { ...one, work: { ...one.work, plan: versioned(resource, one.work.plan) } }
    }),
  }
}

function placesOf(wanted: readonly Wanted[]): string {
  return wanted.map(({ place }) => place).join()
}

function placeOf({ place }: Wanted, key: KeyValue): string {
  return `${place} ${key}`
}

/** The same answer to whoever asks for the same again: what may be asked before there is a transaction is asked once. */
function remembered<A extends readonly unknown[], T>(
  nameOf: (...given: A) => string,
  plan: (...given: A) => Promise<T>,
): (...given: A) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (...given) => {
    const name = nameOf(...given)
    const answer = known.get(name) ?? plan(...given)
    known.set(name, answer)
    return answer
  }
}

/** The version of the row stands in the body, since there is no tag of it. */
function updateOf(resource: Resource, body: Body, key: KeyValue): Intent {
  return { kind: 'update', key: String(key), match: matchIn(resource, body), body, minimal: true }
}

/** What the target's records meet that the caller could read by their keys, and that are the relation's. */
async function meetable(session: Session, { target, relation: { ends } }: Linking): Promise<Predicate> {
  const caller = session.callerOf(target, 'getById')
  const fixed = [...ends.fixed()].map(([name, value]) => [fieldNamed(target.fields, name), value] as const)
  const where = both({ kind: 'always' }, confined(fixed))
  const wanted: GetPlan = { kind: 'get', where, projection: ofOwn(target.keys) }
  const plan = (await target.behaviours.amend?.(target, wanted, caller)) ?? wanted
  if (plan.kind !== 'get') throw unexpected(target, plan)
  return plan.where
}

interface Part {
  readonly operation: OperationName
  readonly intent: Intent
  readonly places: readonly string[]
}

async function planned(
  session: Session,
  resource: Resource,
  { operation, intent, places }: Part,
): Promise<Planned<Plan>> {
  const caller = session.callerOf(resource, operation)
  const { accept } = resource.behaviours
  const accepted = accept ? await acceptEach(intent, (one) => accept(resource, one, caller)) : intent
  const work = await planFor(resource, accepted, caller, session.tell)
  return { caller, work: { ...work, places } }
}

interface Kinds {
  readonly bulkCreate: BulkCreatePlan
  readonly bulkDelete: BulkDeletePlan
  readonly update: UpdatePlan
  readonly restore: UpdatePlan
}

function narrowed<K extends keyof Kinds>(
  resource: Resource,
  { caller, work }: Planned<Plan>,
  kind: K,
): Planned<Kinds[K]> {
  const { plan } = work
  if (!isOf(plan, kind)) throw unexpected(resource, plan)
  return { caller, work: { ...work, plan } }
}

function isOf<K extends keyof Kinds>(plan: Plan, kind: K): plan is Kinds[K] {
  return plan.kind === kind
}
