import type { Intent } from '../../types/intent.js'
import type { BulkUpdatePlan, CreatePlan, ReplacePlan, UpsertPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Branch, Holds, Work } from '../../types/work.js'
import { isRefusal } from '../common/problem.js'
import { bodiesOf } from './bodies.js'
import { branchesOf } from './branches.js'
import type { Body } from './members.js'
import { unexpected } from './plans.js'
import { type Relations, relationsOf } from './relations.js'
import { type Owner, readElements } from './replaced.js'
import type { Session } from './session.js'

type SeveralPlan = BulkUpdatePlan | ReplacePlan | UpsertPlan

/** Adds the nested writes of each body to a bulk update, a replacement or an upsert. */
export function withItems(
  session: Session,
  work: Work<SeveralPlan>,
  intent: Intent,
  relations: Relations,
): Promise<Work> {
  const { plan, resource } = work
  const bodies: Bodies = { session, resource, relations }
  if (plan.kind === 'bulkUpdate' && intent.kind === 'bulkUpdate') return withUpdates(bodies, { ...work, plan }, intent)
  if (plan.kind === 'replace' && intent.kind === 'replace') return withReplacement(bodies, { ...work, plan }, intent)
  if (plan.kind === 'upsert' && intent.kind === 'upsert') return withUpserts(bodies, { ...work, plan }, intent)
  throw unexpected(resource, plan)
}

interface Bodies {
  readonly session: Session
  readonly resource: Resource
  readonly relations: Relations
}

type Item = Omit<Owner, 'resource'>

type Sent<K extends Intent['kind']> = Extract<Intent, { readonly kind: K }>

async function withUpdates(bodies: Bodies, work: Work<BulkUpdatePlan>, intent: Sent<'bulkUpdate'>): Promise<Work> {
  const items: Holds[] = []
  for (const [index, body] of bodiesOf(intent).entries()) {
    const item = work.plan.items[index]
    const key = item === undefined || item.identity.kind === 'never' ? null : item.key
    const branches = await patched(bodies, { key, body, place: `[${index}].` })
    items.push({ there: async () => branches, fresh: [] })
  }
  return { ...work, items }
}

async function withReplacement(bodies: Bodies, work: Work<ReplacePlan>, intent: Sent<'replace'>): Promise<Work> {
  const { plan } = work
  const branches = await patched(bodies, { key: plan.update.key, body: intent.update, place: '' })
  const made = plan.create === null ? null : await creation(bodies, plan.create, intent.create, '')
  return {
    ...work,
    plan: { ...plan, create: made?.plan ?? null },
    items: [{ there: async () => branches, fresh: made?.branches ?? [] }],
  }
}

/** Plans nested writes for both outcomes. Only the transaction finds out which records exist and which parents the nested records have. */
async function withUpserts(bodies: Bodies, work: Work<UpsertPlan>, intent: Sent<'upsert'>): Promise<Work> {
  const { plan } = work
  const items: Holds[] = []
  const planned: UpsertPlan['items'][number][] = []
  for (const [index, item] of plan.items.entries()) {
    const sent = intent.items[index]
    const owner = { body: sent?.update, place: `[${index}].` }
    for (const holding of relationsOf(bodies.relations, owner.body).holdings) readElements(holding, owner, undefined)
    const made = await creation(bodies, item.create, sent?.create, owner.place)
    planned.push({ ...item, create: made.plan })
    items.push({ there: (key) => patched(bodies, { ...owner, key }), fresh: made.branches })
  }
  return { ...work, plan: { ...plan, items: planned }, items }
}

/** Nested writes in the body of an existing record. Omitted members stay unchanged. */
function patched({ session, resource, relations }: Bodies, { key, body, place }: Item): Promise<readonly Branch[]> {
  return branchesOf(session, relationsOf(relations, body), { resource, key, bodies: [body], at: () => place })
}

/** Nested writes in the body of a record that may be created. A refusal is reported only if the record must be created. */
async function creation(
  { session, resource, relations }: Bodies,
  plan: CreatePlan,
  body: Body | Error | undefined,
  place: string,
): Promise<{ readonly plan: CreatePlan; readonly branches: readonly Branch[] }> {
  if (body === undefined || body instanceof Error) return { plan, branches: [] }
  const owners = { resource, key: undefined, bodies: [body], at: () => place }
  try {
    return { plan, branches: await branchesOf(session, relationsOf(relations, body), owners) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { plan: { ...plan, refusal: plan.refusal ?? error }, branches: [] }
  }
}
