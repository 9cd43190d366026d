import type { BulkCreatePlan } from '../../types/plan.js'
import type { NewBranch, Planned } from '../../types/work.js'
import { Complaints, disowned, heldBy } from './elements.js'
import { type Body, type Holding, memberOf } from './holdings.js'
import { unexpected, unowned, versioned } from './plans.js'
import type { Session } from './session.js'

/** The records of owners that are new. */
export async function fresh(
  session: Session,
  holding: Holding,
  owners: readonly unknown[],
  at: (index: number) => string,
): Promise<NewBranch> {
  const { target, json, many, tie } = holding
  const complaints = new Complaints(target)
  const bodies: Body[] = []
  const places: string[] = []
  const groups = owners.map((owner, index) => {
    const held = heldBy(holding, owner, at(index), complaints)
    // A new owner has a key only where its body says so.
    const key = tie.source.targets.has('create') ? memberOf(owner, tie.source.json) : undefined
    if (held === null || held === undefined) return held
    return held.map((each) => {
      places.push(each.place)
      return bodies.push(disowned(holding, each, key, complaints)) - 1
    })
  })
  const { work, caller } = await createdBy(session, holding, bodies, places)
  return { kind: 'new', json, many, resource: target, tie, faults: complaints.errors, caller, work, groups }
}

/** Records that are new, with their places. */
export async function createdBy(
  session: Session,
  holding: Holding,
  bodies: readonly Body[],
  places: readonly string[],
): Promise<Planned<BulkCreatePlan>> {
  const { target, tie } = holding
  if (bodies.length > 0) {
    session.assertWritable(holding)
    await session.admit(target, 'create')
  }
  const { caller, work } = await session.part(
    target,
    'create',
    { kind: 'bulkCreate', bodies, minimal: session.minimal, operation: 'create' },
    places,
  )
  const { plan } = work
  if (plan.kind !== 'bulkCreate') throw unexpected(target, plan)
  return { caller, work: { ...work, plan: versioned(target, unowned(target, plan, tie)) } }
}
