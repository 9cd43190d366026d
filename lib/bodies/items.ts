import type { Intent } from '../../types/intent.js'
import type { BulkUpdatePlan, CreatePlan, KeyValue, ReplacePlan, UpsertPlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { ItemNestedWrites, NestedWrite, Work } from '../../types/work.js'
import { isRefusal } from '../common/problem.js'
import { bodiesOf } from './bodies.js'
import type { Body } from './members.js'
import { planNestedWrites } from './nestedWrites.js'
import { unexpectedPlanError } from './plans.js'
import { type BodyRelations, selectRelations } from './relations.js'
import { type ParentBody, readElements } from './replacedChildren.js'
import type { Session } from './session.js'

type BatchPlan = BulkUpdatePlan | ReplacePlan | UpsertPlan

/** Adds the nested writes of each body to a bulk update, a replacement or an upsert. */
export function addItemWrites(
  session: Session,
  work: Work<BatchPlan>,
  intent: Intent,
  relations: BodyRelations,
): Promise<Work> {
  const { plan, resource } = work
  const bodies: BatchContext = { session, resource, relations }
  if (plan.kind === 'bulkUpdate' && intent.kind === 'bulkUpdate')
    return addUpdateWrites(bodies, { ...work, plan }, intent)
  if (plan.kind === 'replace' && intent.kind === 'replace') return addReplaceWrites(bodies, { ...work, plan }, intent)
  if (plan.kind === 'upsert' && intent.kind === 'upsert') return addUpsertWrites(bodies, { ...work, plan }, intent)
  throw unexpectedPlanError(resource, plan)
}

interface BatchContext {
  readonly session: Session
  readonly resource: Resource
  readonly relations: BodyRelations
}

type BatchBody = Omit<ParentBody, 'resource'>

type IntentOf<K extends Intent['kind']> = Extract<Intent, { readonly kind: K }>

async function addUpdateWrites(
  bodies: BatchContext,
  work: Work<BulkUpdatePlan>,
  intent: IntentOf<'bulkUpdate'>,
): Promise<Work> {
  const items: ItemNestedWrites[] = []
  for (const [index, body] of bodiesOf(intent).entries()) {
    const item = work.plan.items[index]
    const key = item === undefined || item.identity.kind === 'never' ? null : item.key
    const nestedWrites = await planPatchWrites(bodies, { key, body, place: `[${index}].` })
    items.push({ planExisting: async () => nestedWrites, forNew: [] })
  }
  return { ...work, items }
}

async function addReplaceWrites(
  bodies: BatchContext,
  work: Work<ReplacePlan>,
  intent: IntentOf<'replace'>,
): Promise<Work> {
  const { plan } = work
  const nestedWrites = await planPatchWrites(bodies, { key: plan.update.key, body: intent.update, place: '' })
  const parent = { newKey: plan.update.key, body: intent.create, place: '' }
  const made = plan.create === null ? null : await planCreateWrites(bodies, plan.create, parent)
  return {
    ...work,
    plan: { ...plan, create: made?.plan ?? null },
    items: [{ planExisting: async () => nestedWrites, forNew: made?.nestedWrites ?? [] }],
  }
}

/**
 * Plans nested writes both for an update and for a create. Only the transaction finds out which records exist and which
 * parents the nested records have.
 */
async function addUpsertWrites(
  bodies: BatchContext,
  work: Work<UpsertPlan>,
  intent: IntentOf<'upsert'>,
): Promise<Work> {
  const { plan } = work
  const items: ItemNestedWrites[] = []
  const planned: UpsertPlan['items'][number][] = []
  for (const [index, item] of plan.items.entries()) {
    const itemIntent = intent.items[index]
    const parent = { body: itemIntent?.update, place: `[${index}].` }
    for (const relation of selectRelations(bodies.relations, parent.body).nested)
      readElements(relation, parent, undefined)
    const made = await planCreateWrites(bodies, item.create, { ...parent, body: itemIntent?.create })
    planned.push({ ...item, create: made.plan })
    items.push({ planExisting: (key) => planPatchWrites(bodies, { ...parent, key }), forNew: made.nestedWrites })
  }
  return { ...work, plan: { ...plan, items: planned }, items }
}

/** Plans the nested writes in the body of an existing record. Omitted members stay unchanged. */
function planPatchWrites(
  { session, resource, relations }: BatchContext,
  { key, body, place }: BatchBody,
): Promise<readonly NestedWrite[]> {
  return planNestedWrites(session, selectRelations(relations, body), {
    resource,
    key,
    bodies: [body],
    prefixOf: () => place,
  })
}

/** The body of a record that may be created. */
interface NewBody {
  /** The key, if the path states it. */
  readonly newKey?: KeyValue
  readonly body: Body | Error | undefined
  readonly place: string
}

/**
 * Plans the nested writes in the body of a record that may be created. A refusal is reported only if the record must be
 * created.
 */
async function planCreateWrites(
  { session, resource, relations }: BatchContext,
  plan: CreatePlan,
  { newKey, body, place }: NewBody,
): Promise<{ readonly plan: CreatePlan; readonly nestedWrites: readonly NestedWrite[] }> {
  if (body === undefined || body instanceof Error) return { plan, nestedWrites: [] }
  const parents = { resource, key: undefined, newKey, bodies: [body], prefixOf: () => place }
  try {
    return { plan, nestedWrites: await planNestedWrites(session, selectRelations(relations, body), parents) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { plan: { ...plan, policyError: plan.policyError ?? error }, nestedWrites: [] }
  }
}
