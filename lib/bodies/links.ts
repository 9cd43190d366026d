import type { GetPlan, Predicate } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { ForeignKeyBinding, LinkChange, LinkTarget } from '../../types/work.js'
import { BodyErrors, errorsAt } from '../common/bodyErrors.js'
import { projectOwnFields, requireField } from '../common/columns.js'
import { addCondition, matchFixed } from '../common/predicates.js'
import { readBodyKey, referableRecordsOf } from '../plan/index.js'
import { type Body, memberOf } from './members.js'
import { unexpectedPlanError } from './plans.js'
import type { LinkedRelation } from './relations.js'
import type { Session } from './session.js'
import { createWrites } from './writes.js'

/**
 * Creates the target of a link from a key of the client. The target's key is undefined if no record can have the key.
 */
export function parseLinkTarget({ keys }: Resource, key: unknown, place: string, body: Body | null = null): LinkTarget {
  return { place, key: readBodyKey(keys, key) ?? undefined, body }
}

/** Plans links from the keys in bodies. With `set`, an existing record loses all other links. */
export function planLinks(
  session: Session,
  linking: LinkedRelation,
  mode: 'set' | 'add',
  { bodies, at }: { readonly bodies: readonly unknown[]; readonly at: (index: number) => string },
): Promise<LinkChange> {
  const { json, target } = linking
  const errors = new BodyErrors()
  const groups = bodies.map((body, index) => {
    const value = memberOf(body, json)
    if (value === undefined) return undefined
    const place = at(index) + json
    if (Array.isArray(value)) return value.map((key: unknown, nth) => parseLinkTarget(target, key, `${place}[${nth}]`))
    errors.add(errorsAt(target, [place], value === null ? 'null' : 'array'))
    return []
  })
  return planLinkChange(session, linking, { mode, isOne: false, groups, errors: errors.all, place: at(0) + json })
}

type LinkChangeInput = Pick<LinkChange, 'mode' | 'isOne' | 'groups' | 'errors' | 'place'>

/** Plans a change of links, with policy checks for the join model. The caller is already authorized to read records by key. */
export async function planLinkChange(
  session: Session,
  linking: LinkedRelation,
  change: LinkChangeInput,
): Promise<LinkChange> {
  const { json, target, joinModelResource: resource, binding, key, referencedKey, isUnique } = linking
  const set: ForeignKeyBinding = { ...binding, fixed: new Map([...binding.fixed, [key, null]]) }
  return {
    kind: 'linked',
    json,
    resource: target,
    binding,
    ...change,
    joinModelResource: resource,
    key,
    target: referencedKey,
    isUnique,
    targetCondition: await buildLinkableCondition(session, linking),
    joinRowCondition: await referableRecordsOf(resource, session.callerOf(resource, 'getList')),
    ...createWrites(session, { resource, binding: set, keys: [binding.key, key], minimal: true, isFlat: true }),
  }
}

/**
 * Returns the condition on the target's records that may be linked. The caller could read them by key, and they meet
 * the relation's own conditions.
 */
async function buildLinkableCondition(
  session: Session,
  { target, relation: { attributes } }: LinkedRelation,
): Promise<Predicate> {
  const caller = session.callerOf(target, 'getById')
  const fixed = [...attributes.fixed()].map(([name, value]) => [requireField(target.fields, name), value] as const)
  const where = addCondition({ kind: 'always' }, matchFixed(fixed))
  const read: GetPlan = { kind: 'get', where, projection: projectOwnFields(target.keys) }
  const plan = (await target.behaviours.amend?.(target, read, caller)) ?? read
  if (plan.kind !== 'get') throw unexpectedPlanError(target, plan)
  return plan.where
}
