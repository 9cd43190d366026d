import type { Intent } from '../../types/intent.js'
import type { Caller, Plan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Planned, Work } from '../../types/work.js'
import { withOwn } from '../common/columns.js'
import { acceptEach, withoutMembers } from '../common/each.js'
import { planFor } from '../read.js'
import { bodiesOf } from './bodies.js'
import { branchesOf } from './branches.js'
import { withItems } from './items.js'
import { projected, withVersion } from './plans.js'
import { type Relations, relationsIn } from './relations.js'
import type { Part, Session } from './session.js'

/** Bodies to plan, with the relations that they name. */
interface Bodies {
  readonly resource: Resource
  readonly caller: Caller
  readonly relations: Relations
  /** Places of the bodies in the request. Undefined for the bodies of the request itself. */
  readonly places?: readonly string[] | undefined
}

/** Plans an intent with the nested writes of its bodies. */
export async function planned(session: Session, whose: Bodies, intent: Intent): Promise<Work> {
  const { resource, caller, relations, places } = whose
  const named = [...relations.holdings, ...relations.linkings]
  const names = new Set(named.map(({ json }) => json))
  const own = await acceptEach(intent, (one) => withoutMembers(one, names))
  const work = await planFor(resource, own, caller, session.tell)
  const sources = named.map(({ tie }) => tie.source)
  const plan = await projected(work.plan, (projection) => withOwn(projection, sources))
  if (plan.kind === 'bulkUpdate' || plan.kind === 'replace' || plan.kind === 'upsert') {
    return withItems(session, { ...work, plan }, intent, relations)
  }
  const at = (index: number): string => (places === undefined ? '' : `${places[index]}.`)
  const key = intent.kind === 'update' && plan.kind === 'update' ? plan.key : undefined
  const owners = { resource, key, bodies: bodiesOf(intent), at }
  return { ...work, plan, branches: await branchesOf(session, relations, owners) }
}

/** Plans a part of a request with the resource of that part, like a separate request. */
export async function part(
  session: Session,
  resource: Resource,
  { operation, intent: sent, places, isAlone = false }: Part,
): Promise<Planned<Plan>> {
  const caller = session.callerOf(resource, operation)
  const accept = places === undefined ? null : resource.behaviours.accept
  const accepted = accept ? await acceptEach(sent, (one) => accept(resource, one, caller)) : sent
  const { unknown } = session
  const intent = unknown === undefined ? accepted : { ...accepted, unknown }
  const relations = isAlone ? null : relationsIn(resource, session.caller, bodiesOf(intent))
  const work =
    relations === null
      ? await planFor(resource, intent, caller, session.tell)
      : await planned(session, { resource, caller, relations, places }, intent)
  const plan = await projected(work.plan, (projection) => withVersion(resource, projection))
  return { caller, work: { ...work, plan, ...(places === undefined ? {} : { places }) } }
}
