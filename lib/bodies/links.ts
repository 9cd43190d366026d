import type { GetPlan, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { LinkedBranch, Tie, Wanted } from '../../types/work.js'
import { BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { fieldNamed, ofOwn } from '../common/columns.js'
import { both, confined } from '../common/predicates.js'
import { meetableOf, readStatedKey } from '../plan/index.js'
import { type Body, memberOf } from './members.js'
import { unexpected } from './plans.js'
import type { Linking } from './relations.js'
import type { Session } from './session.js'
import { writesOf } from './writes.js'

/** Reference to a linked record by a key from the client. */
export function wantedBy({ keys }: Resource, key: unknown, place: string, body: Body | null = null): Wanted {
  return { place, key: readStatedKey(keys, key) ?? undefined, body }
}

/** Plans links from the keys in bodies. With `set`, an existing record loses all other links. */
export function linked(
  session: Session,
  linking: Linking,
  mode: 'set' | 'add',
  { bodies, at }: { readonly bodies: readonly unknown[]; readonly at: (index: number) => string },
): Promise<LinkedBranch> {
  const { json, target } = linking
  const errors = new BodyErrors()
  const groups = bodies.map((body, index) => {
    const value = memberOf(body, json)
    if (value === undefined) return undefined
    const place = at(index) + json
    if (Array.isArray(value)) return value.map((key: unknown, nth) => wantedBy(target, key, `${place}[${nth}]`))
    errors.add(errorsAt(target, [place], value === null ? 'null' : 'array'))
    return []
  })
  return linkedBranch(session, linking, { mode, isOne: false, groups, faults: errors.all })
}

type Change = Pick<LinkedBranch, 'mode' | 'isOne' | 'groups' | 'faults'>

/** Plans a change of links, with policy checks for the join model. The caller is already authorized to read records by key. */
export async function linkedBranch(session: Session, linking: Linking, change: Change): Promise<LinkedBranch> {
  const { json, target, between: resource, tie, key, points, isUnique } = linking
  const set: Tie = { ...tie, fixed: new Map([...tie.fixed, [key, null]]) }
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
    ...writesOf(session, { resource, tie: set, keys: [tie.key, key], minimal: true, isAlone: true }),
  }
}

/** Condition on the target's records that may be linked: the caller could read them by key, and they meet the relation's own conditions. */
async function meetable(session: Session, { target, relation: { ends } }: Linking): Promise<Predicate> {
  const caller = session.callerOf(target, 'getById')
  const fixed = [...ends.fixed()].map(([name, value]) => [fieldNamed(target.fields, name), value] as const)
  const where = both({ kind: 'always' }, confined(fixed))
  const wanted: GetPlan = { kind: 'get', where, projection: ofOwn(target.keys) }
  const plan = (await target.behaviours.amend?.(target, wanted, caller)) ?? wanted
  if (plan.kind !== 'get') throw unexpected(target, plan)
  return plan.where
}
