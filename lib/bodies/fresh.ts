import type { BulkCreatePlan } from '../../types/plan.js'
import type { NewBranch, Planned } from '../../types/work.js'
import { BodyErrors } from '../common/bodyErrors.js'
import { endsOf, heldBy, type Placed } from './elements.js'
import { memberOf } from './members.js'
import { unowned } from './plans.js'
import type { Holding } from './relations.js'
import type { Session } from './session.js'
import { withoutEnds } from './stated.js'

/** The records of owners that are new. */
export async function fresh(
  session: Session,
  holding: Holding,
  owners: readonly unknown[],
  at: (index: number) => string,
): Promise<NewBranch> {
  const { target, json, many, tie } = holding
  const errors = new BodyErrors()
  const all: Placed[] = []
  const groups = owners.map((owner, index) => {
    const held = heldBy(holding, owner, at(index), errors)
    if (held === null || held === undefined) return held
    // A new owner has a key only where its body says so.
    const key = tie.source.targets.has('create') ? memberOf(owner, tie.source.json) : undefined
    const ends = endsOf(holding, key).map((end) => ({ ...end, isExact: true }))
    return held.map(({ body: sent, place }) => {
      const { body, wrong } = withoutEnds(target, sent, ends, `${place}.`)
      errors.add(wrong)
      return all.push({ body, place }) - 1
    })
  })
  const { work, caller } = await createdBy(session, holding, all)
  return { kind: 'new', json, many, resource: target, tie, faults: errors.all, caller, work, groups }
}

/** Records that are new, with their places. */
export async function createdBy(
  session: Session,
  { target, tie }: Holding,
  elements: readonly Placed[],
): Promise<Planned<BulkCreatePlan>> {
  if (elements.length > 0) {
    session.assertWritable(target, [tie.key])
    await session.admit(target, 'create')
  }
  const bodies = elements.map(({ body }) => body)
  const intent = { kind: 'bulkCreate', bodies, minimal: session.minimal, operation: 'create' } as const
  const places = elements.map(({ place }) => place)
  const { caller, work } = await session.part(target, 'bulkCreate', { operation: 'create', intent, places })
  return { caller, work: { ...work, plan: unowned(target, work.plan, tie) } }
}
