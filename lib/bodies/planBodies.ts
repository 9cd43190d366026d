import type { Intent } from '../../types/intent.js'
import type { Caller, Plan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { PlannedPart, Work } from '../../types/work.js'
import { addOwnColumns } from '../common/columns.js'
import { removeMembers, rewriteBodies } from '../common/compositeWrites.js'
import { planFor } from '../read.js'
import { bodiesOf } from './bodies.js'
import { addItemWrites } from './items.js'
import { planNestedWrites } from './nestedWrites.js'
import { addVersion, mapProjections } from './plans.js'
import { type BodyRelations, findRelations } from './relations.js'
import type { RequestPart, Session } from './session.js'

/** Bodies to plan, with the relations that they name. */
interface PlannedBodies {
  readonly resource: Resource
  readonly caller: Caller
  readonly relations: BodyRelations
  /** The places of the bodies in the request; undefined for the bodies of the request itself. */
  readonly places?: readonly string[] | undefined
}

/** Plans an intent with the nested writes of its bodies. */
export async function planBodies(session: Session, whose: PlannedBodies, intent: Intent): Promise<Work> {
  const { resource, caller, relations, places } = whose
  const named = [...relations.nested, ...relations.linked]
  const names = new Set(named.map(({ json }) => json))
  const own = await rewriteBodies(intent, (one) => removeMembers(one, names))
  const work = await planFor(resource, own, caller, session.call)
  const sources = named.map(({ binding }) => binding.source)
  const plan = await mapProjections(work.plan, (projection) => addOwnColumns(projection, sources))
  if (plan.kind === 'bulkUpdate' || plan.kind === 'replace' || plan.kind === 'upsert') {
    return addItemWrites(session, { ...work, plan }, intent, relations)
  }
  const prefixOf = (index: number): string => (places === undefined ? '' : `${places[index]}.`)
  const key = intent.kind === 'update' && plan.kind === 'update' ? plan.key : undefined
  const parents = { resource, key, bodies: bodiesOf(intent), prefixOf }
  return { ...work, plan, nestedWrites: await planNestedWrites(session, relations, parents) }
}

/** Plans a part of a request by the part's own resource, like a separate request. */
export async function planPart(
  session: Session,
  resource: Resource,
  { operation, intent: requested, places, isFlat = false }: RequestPart,
): Promise<PlannedPart<Plan>> {
  const caller = session.callerOf(resource, operation)
  const accept = places === undefined ? null : resource.behaviours.accept
  const accepted = accept ? await rewriteBodies(requested, (one) => accept(resource, one, caller)) : requested
  const { unknownNames } = session
  const intent = unknownNames === undefined ? accepted : { ...accepted, unknownNames }
  const relations = isFlat ? null : findRelations(resource, session.caller, bodiesOf(intent))
  const work =
    relations === null
      ? await planFor(resource, intent, caller, session.call)
      : await planBodies(session, { resource, caller, relations, places }, intent)
  const plan = await mapProjections(work.plan, (projection) => addVersion(resource, projection, caller))
  return { caller, work: { ...work, plan, ...(places === undefined ? {} : { places }) } }
}
