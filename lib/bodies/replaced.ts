import type { JsonValue } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { BulkCreatePlan, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Element, Planned, ReplacedBranch } from '../../types/work.js'
import { planKeyName, planKeyParts } from '../common/keys.js'
import { isRefusal } from '../common/problem.js'
import { WHOLE } from '../common/whole.js'
import { meetableOf } from '../plan/index.js'
import { planFor } from '../read.js'
import { Complaints, elementsOf, heldBy } from './elements.js'
import { createdBy } from './fresh.js'
import { choosesKeys, type Holding, matchIn } from './holdings.js'
import { keyOnly, unexpected, versioned, withVersion } from './plans.js'
import type { Session } from './session.js'

/** An owner, and what its body says. */
export interface Owner {
  readonly resource: Resource
  /** Null for that of no record, or of one that is not known yet. */
  readonly key: KeyValue | null
  readonly body: unknown
  /** What stands in front of the names of its members. */
  readonly place: string
}

/** What an owner that is there already is to have instead. */
export async function replaced(session: Session, holding: Holding, owner: Owner): Promise<ReplacedBranch> {
  const { target, json, many, tie } = holding
  const complaints = new Complaints(target)
  const held = heldBy(holding, owner.body, owner.place, complaints) ?? []
  const known = knownOf(owner, tie)
  const elements = elementsOf(holding, held, known, complaints)
  complaints.throwIfUnreadable()
  const plans = await plannedAhead(session, holding, elements, known)
  return {
    kind: 'replaced',
    json,
    many,
    resource: target,
    tie,
    faults: complaints.errors,
    elements,
    guard: await meetableOf(target, session.callerOf(target, 'getList')),
    isChosen: choosesKeys(target, tie),
    spare: session.spare,
    overflow: () => session.overflow(),
    create: async (all) =>
      plans.created !== null && isSame(all, plans.fresh) ? plans.created : createdFrom(session, holding, all),
    update: async (element, at) => {
      const isPlanned = planKeyName(target.keys, element.keyOf(known ?? null)) === planKeyName(target.keys, at)
      return (isPlanned ? plans.updates.get(element) : undefined) ?? updated(session, holding, element, at)
    },
    remove: async (keys) => {
      await session.admit(target, 'delete')
      const caller = session.callerOf(target, 'delete')
      const work = await planFor(target, { kind: 'bulkDelete', keys }, caller, session.tell)
      if (work.plan.kind !== 'bulkDelete') throw unexpected(target, work.plan)
      return { caller, work: { ...work, plan: work.plan } }
    },
    show: (keys) => shown(session, target, keys),
  }
}

/** What points at the owner; undefined where that is something else than its key. */
function knownOf({ resource: { keys }, key }: Owner, { source }: Holding['tie']): JsonValue | undefined {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(source)]
}

/**
 * Looks at the elements of an owner who is not known yet.
 *
 * @throws Problem 400 where there is no telling which record is meant, or which version of it
 */
export function assertReadable(holding: Holding, owner: Pick<Owner, 'body' | 'place'>): void {
  const complaints = new Complaints(holding.target)
  elementsOf(holding, heldBy(holding, owner.body, owner.place, complaints) ?? [], undefined, complaints)
  complaints.throwIfUnreadable()
}

interface Ahead {
  readonly fresh: readonly Element[]
  readonly created: Planned<BulkCreatePlan> | null
  readonly updates: ReadonlyMap<Element, Planned<UpdatePlan>>
}

/**
 * What the body alone tells of: who is asked for it may take his time, and a connection of his own, before there is a
 * transaction. Whether the rest is new, and keys that contain an unknown owner, are known within it.
 */
async function plannedAhead(
  session: Session,
  holding: Holding,
  elements: readonly Element[],
  owner: JsonValue | undefined,
): Promise<Ahead> {
  const { target, many, tie } = holding
  const fresh = many ? elements.filter(({ isNew }) => isNew) : []
  const updates = new Map<Element, Planned<UpdatePlan>>()
  const isOpen = choosesKeys(target, tie) || (owner === undefined && target.keys.includes(tie.key))
  for (const element of isOpen ? [] : elements) {
    const key = element.isKept ? null : element.keyOf(owner ?? null)
    if (key !== null && key !== undefined) updates.set(element, await updated(session, holding, element, key))
  }
  return { fresh, created: fresh.length === 0 ? null : await createdFrom(session, holding, fresh), updates }
}

function isSame(one: readonly Element[], other: readonly Element[]): boolean {
  return one.length === other.length && one.every((element, index) => element === other[index])
}

function createdFrom(
  session: Session,
  holding: Holding,
  elements: readonly Element[],
): Promise<Planned<BulkCreatePlan>> {
  return createdBy(
    session,
    holding,
    elements.map(({ body }) => body),
    elements.map(({ place }) => place),
  )
}

async function updated(
  session: Session,
  { target }: Holding,
  { body, place }: Element,
  key: KeyValue,
): Promise<Planned<UpdatePlan>> {
  await session.admit(target, 'update')
  const { minimal } = session
  const intent: Intent = { kind: 'update', key: String(key), match: matchIn(target, body), body, minimal }
  const { caller, work } = await session.part(target, 'update', intent, [place])
  const { plan } = work
  if (plan.kind !== 'update') throw unexpected(target, plan)
  return { caller, work: { ...work, plan: versioned(target, plan) } }
}

/** Who may not read records by their keys is shown of those that stay what was sent: the key and the version. */
async function shown(session: Session, target: Resource, keys: readonly KeyValue[]): Promise<Planned<GetPlan>> {
  const caller = session.callerOf(target, 'getById')
  const isReader = await session.admit(target, 'getById').then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error)) return false
      throw error
    },
  )
  const work = await planFor(target, { kind: 'get', key: String(keys[0]), ...WHOLE }, caller, session.tell)
  const { plan } = work
  if (plan.kind !== 'get') throw unexpected(target, plan)
  const projection = withVersion(target, isReader && !session.minimal ? plan.projection : keyOnly(target))
  return { caller, work: { ...work, plan: { ...plan, projection } } }
}
