import type { NewBranch } from '../../types/work.js'
import { BodyErrors } from '../common/bodyErrors.js'
import { endsOf, heldBy, type Placed } from './elements.js'
import { memberOf } from './members.js'
import type { Holding } from './relations.js'
import type { Session } from './session.js'
import { withoutEnds } from './stated.js'
import { created, type WriteTarget } from './writes.js'

/** Plans the children of new parents. */
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
    // The key of a new parent is known only if its body contains the key.
    const key = tie.source.targets.has('create') ? memberOf(owner, tie.source.json) : undefined
    const ends = endsOf(holding, key).map((end) => ({ ...end, isExact: true }))
    return held.map(({ body: sent, place }) => {
      const { body, wrong } = withoutEnds(target, sent, ends, `${place}.`)
      errors.add(wrong)
      return all.push({ body, place }) - 1
    })
  })
  const { work, caller } = await created(session, childrenOf(holding, session), all)
  return { kind: 'new', json, many, resource: target, tie, faults: errors.all, caller, work, groups }
}

/** Write target for the children of a relation. */
export function childrenOf({ target, tie }: Holding, { minimal }: Session): WriteTarget {
  return { resource: target, tie, keys: [tie.key], minimal, isAlone: false }
}
