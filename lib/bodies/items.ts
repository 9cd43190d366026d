import type { Intent } from '../../types/intent.js'
import type { BulkUpdatePlan, CreatePlan, ReplacePlan, UpsertPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Branch, Holds, Work } from '../../types/work.js'
import { isRefusal } from '../common/problem.js'
import { bodiesOf } from './bodies.js'
import { fresh } from './fresh.js'
import { type Body, holdingsIn } from './holdings.js'
import { linked, linkingsIn } from './links.js'
import { unexpected } from './plans.js'
import { assertReadable, type Owner, replaced } from './replaced.js'
import type { Session } from './session.js'

type SeveralPlan = BulkUpdatePlan | ReplacePlan | UpsertPlan

/** A write of several records, or of one that may be changed or made, with what each of its bodies holds. */
export function withItems(session: Session, work: Work<SeveralPlan>, intent: Intent): Promise<Work> {
  const { plan } = work
  if (plan.kind === 'bulkUpdate' && intent.kind === 'bulkUpdate') return withUpdates(session, { ...work, plan }, intent)
  if (plan.kind === 'replace' && intent.kind === 'replace') return withReplacement(session, { ...work, plan }, intent)
  if (plan.kind === 'upsert' && intent.kind === 'upsert') return withUpserts(session, { ...work, plan }, intent)
  throw unexpected(work.resource, plan)
}

type Sent<K extends Intent['kind']> = Extract<Intent, { readonly kind: K }>

async function withUpdates(session: Session, work: Work<BulkUpdatePlan>, intent: Sent<'bulkUpdate'>): Promise<Work> {
  const { resource, plan } = work
  const items: Holds[] = []
  for (const [index, body] of bodiesOf(intent).entries()) {
    const item = plan.items[index]
    const key = item === undefined || item.identity.kind === 'never' ? null : item.key
    const branches = await patched(session, { resource, key, body, place: `[${index}].` })
    items.push({ there: async () => branches, fresh: [] })
  }
  return { ...work, items }
}

async function withReplacement(session: Session, work: Work<ReplacePlan>, intent: Sent<'replace'>): Promise<Work> {
  const { resource, plan } = work
  const branches = await patched(session, { resource, key: plan.update.key, body: intent.update, place: '' })
  const made = plan.create === null ? null : await creation(session, resource, plan.create, intent.create, '')
  return {
    ...work,
    plan: { ...plan, create: made?.plan ?? null },
    items: [{ there: async () => branches, fresh: made?.branches ?? [] }],
  }
}

/** Which of the records are there is known within the transaction, and with it whose the records in the bodies are. */
async function withUpserts(session: Session, work: Work<UpsertPlan>, intent: Sent<'upsert'>): Promise<Work> {
  const { resource, plan } = work
  const items: Holds[] = []
  const planned: UpsertPlan['items'][number][] = []
  for (const [index, item] of plan.items.entries()) {
    const sent = intent.items[index]
    const owner = { resource, body: sent?.update, place: `[${index}].` }
    for (const holding of holdingsIn(resource, session.caller, [owner.body])) assertReadable(holding, owner)
    const made = await creation(session, resource, item.create, sent?.create, owner.place)
    planned.push({ ...item, create: made.plan })
    items.push({ there: (key) => patched(session, { ...owner, key }), fresh: made.branches })
  }
  return { ...work, plan: { ...plan, items: planned }, items }
}

/** What the body of a record that is there holds. What it does not name stays as it is. */
async function patched(session: Session, owner: Owner): Promise<readonly Branch[]> {
  const branches: Branch[] = []
  for (const holding of holdingsIn(owner.resource, session.caller, [owner.body])) {
    branches.push(await replaced(session, holding, owner))
  }
  const { resource, body, place } = owner
  for (const linking of linkingsIn(resource, session.caller, [body])) {
    branches.push(await linked(session, linking, 'set', { bodies: [body], at: () => place }))
  }
  return branches
}

/** What the body of a record holds that may have to be made. Why its caller may not is told where there is one to be made. */
async function creation(
  session: Session,
  resource: Resource,
  plan: CreatePlan,
  body: Body | Error | undefined,
  place: string,
): Promise<{ readonly plan: CreatePlan; readonly branches: readonly Branch[] }> {
  const branches: Branch[] = []
  if (body === undefined || body instanceof Error) return { plan, branches }
  try {
    for (const holding of holdingsIn(resource, session.caller, [body])) {
      branches.push(await fresh(session, holding, [body], () => place))
    }
    for (const linking of linkingsIn(resource, session.caller, [body])) {
      branches.push(await linked(session, linking, 'add', { bodies: [body], at: () => place }))
    }
    return { plan, branches }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { plan: { ...plan, refusal: plan.refusal ?? error }, branches: [] }
  }
}
