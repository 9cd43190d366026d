import type { Intent } from '../../types/intent.js'
import type { Caller, Plan } from '../../types/plan.js'
import type { OperationName, Resource } from '../../types/resource.js'
import type { Branch, Planned, Work } from '../../types/work.js'
import { withOwn } from '../common/columns.js'
import { acceptEach } from '../common/each.js'
import { planFor } from '../read.js'
import { bodiesOf, withoutMembers } from './bodies.js'
import { fresh } from './fresh.js'
import { type Holding, holdingsIn } from './holdings.js'
import { withItems } from './items.js'
import { type Linking, linked, linkingsIn } from './links.js'
import { projected } from './plans.js'
import { replaced } from './replaced.js'
import type { Session } from './session.js'

/** Whose bodies are planned, and where they stand in the request; null for the request's own. */
interface Bodies {
  readonly resource: Resource
  readonly caller: Caller
  readonly places: readonly string[] | null
}

/** What an intent means, with what its bodies hold. */
export async function planned(session: Session, whose: Bodies, intent: Intent): Promise<Work> {
  const { resource, caller } = whose
  const holdings = holdingsIn(resource, session.caller, bodiesOf(intent))
  const linkings = linkingsIn(resource, session.caller, bodiesOf(intent))
  const names = new Set([...holdings, ...linkings].map(({ json }) => json))
  const own = names.size === 0 ? intent : withoutMembers(intent, names)
  const work = await planFor(resource, own, caller, session.tell)
  const sources = [...holdings, ...linkings].map(({ tie }) => tie.source)
  const plan = projected(work.plan, (projection) => withOwn(projection, sources))
  if (plan.kind === 'bulkUpdate' || plan.kind === 'replace' || plan.kind === 'upsert') {
    return withItems(session, { ...work, plan }, intent)
  }
  return { ...work, plan, branches: await branchesOf(session, { ...whose, holdings, linkings, plan }, intent) }
}

interface Planning extends Bodies {
  readonly holdings: readonly Holding[]
  readonly linkings: readonly Linking[]
  readonly plan: Plan
}

async function branchesOf(
  session: Session,
  { resource, places, holdings, linkings, plan }: Planning,
  intent: Intent,
): Promise<readonly Branch[]> {
  const at = (index: number): string => (places === null ? '' : `${places[index]}.`)
  const branches: Branch[] = []
  for (const holding of holdings) {
    branches.push(
      intent.kind === 'update' && plan.kind === 'update'
        ? await replaced(session, holding, { resource, key: plan.key, body: intent.body, place: at(0) })
        : await fresh(session, holding, bodiesOf(intent), at),
    )
  }
  const bodies = bodiesOf(intent)
  const mode = intent.kind === 'update' ? 'set' : 'add'
  for (const linking of linkings) branches.push(await linked(session, linking, mode, { bodies, at }))
  return branches
}

/** What a part of a request means to the resource that it is for, as if it had been sent there. */
export async function part(
  session: Session,
  resource: Resource,
  operation: OperationName,
  intent: Intent,
  places: readonly string[],
): Promise<Planned<Plan>> {
  const caller = session.callerOf(resource, operation)
  const { accept } = resource.behaviours
  const accepted = accept ? await acceptEach(intent, (one) => accept(resource, one, caller)) : intent
  const { unknown } = session
  const named = unknown === undefined ? accepted : { ...accepted, unknown }
  const work = await planned(session, { resource, caller, places }, named)
  return { caller, work: { ...work, places } }
}
