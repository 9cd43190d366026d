// Splits intents and plans of several writes, so that behaviours handle each body or write like a single one.

import type { BatchItem, CreateOrUpdateBody, Intent, SingleIntent, UpsertItem } from '../../types/intent.js'
import type { ActionPlan, Plan, UpsertItem as PlannedItem, SinglePlan, UpdatePlan } from '../../types/plan.js'
import { internalError } from './internalError.js'
import { isObject, omitMembers } from './object.js'
import { isRefusal } from './problem.js'

type ItemBody = BatchItem['body']
type Amend = (plan: SinglePlan) => SinglePlan | Promise<SinglePlan>
type Accept = (intent: SingleIntent) => SingleIntent | Promise<SingleIntent>

/**
 * Rewrites the bodies of an intent by the behaviours. Each body of a batch is rewritten like the body of a single
 * write.
 */
export async function rewriteBodies(intent: Intent, accept: Accept): Promise<Intent> {
  const acceptUpdate = async (body: ItemBody): Promise<ItemBody> => {
    const accepted = await accept({ kind: 'update', key: '', match: null, body, minimal: false })
    if (accepted.kind !== 'update')
      throw internalError(`a behaviour replaced a request of kind "update" by one of kind "${accepted.kind}"`)
    return accepted.body
  }
  switch (intent.kind) {
    case 'bulkUpdate': {
      const items: (BatchItem | null)[] = []
      for (const item of intent.items)
        items.push(item === null ? null : { ...item, body: await acceptUpdate(item.body) })
      return { ...intent, items }
    }
    case 'upsert': {
      const items: (UpsertItem | null)[] = []
      for (const item of intent.items) {
        if (item === null) items.push(null)
        else
          items.push({
            ...item,
            update: await acceptUpdate(item.update),
            create: await acceptCreate(item.create, accept),
          })
      }
      return { ...intent, items }
    }
    case 'replace':
      return { ...intent, update: await acceptUpdate(intent.update), create: await acceptCreate(intent.create, accept) }
    case 'action':
      // The input of an action is not a record.
      return intent
    default:
      return accept(intent)
  }
}

/** Rewrites the body of a create. Returns the error if the caller may not create the record. */
async function acceptCreate(body: CreateOrUpdateBody['create'], accept: Accept): Promise<CreateOrUpdateBody['create']> {
  if (body instanceof Error) return body
  try {
    const accepted = await accept({ kind: 'create', body, minimal: false })
    if (accepted.kind !== 'create')
      throw internalError(`a behaviour replaced a request of kind "create" by one of kind "${accepted.kind}"`)
    return accepted.body
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Changes the bodies of an intent. Bodies that are not objects are reported later. */
export function mapBodies(intent: SingleIntent, change: (body: ItemBody) => ItemBody): SingleIntent {
  switch (intent.kind) {
    case 'create':
    case 'update':
      return { ...intent, body: change(intent.body) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? change(body) : body)) }
    default:
      return intent
  }
}

/** Removes members from the bodies of an intent. */
export function removeMembers(intent: SingleIntent, names: ReadonlySet<string>): SingleIntent {
  return mapBodies(intent, (body) => omitMembers(body, names))
}

/** Amends a plan by the behaviours. In a plan of several writes, each write is amended. */
export function amendEach(plan: Plan, amend: Amend): Plan | Promise<Plan> {
  return 'items' in plan || plan.kind === 'replace' || plan.kind === 'action' ? amendParts(plan, amend) : amend(plan)
}

async function amendParts(plan: Exclude<Plan, SinglePlan> | ActionPlan, amend: Amend): Promise<Plan> {
  const amendPart = async <P extends SinglePlan>(each: P): Promise<P> => {
    const one = await amend(each)
    if (one.kind !== each.kind)
      throw internalError(`a behaviour replaced a plan of kind "${each.kind}" by one of kind "${one.kind}"`)
    return one as P
  }
  switch (plan.kind) {
    case 'bulkUpdate': {
      const items: UpdatePlan[] = []
      for (const item of plan.items) items.push(await amendPart(item))
      return { ...plan, items, combined: await amendPart(plan.combined) }
    }
    case 'upsert': {
      const items: PlannedItem[] = []
      for (const item of plan.items) {
        items.push({ ...item, update: await amendPart(item.update), create: await amendPart(item.create) })
      }
      return { ...plan, items, anyUpdate: await amendPart(plan.anyUpdate) }
    }
    case 'replace':
      return {
        ...plan,
        update: await amendPart(plan.update),
        create: plan.create === null ? null : await amendPart(plan.create),
      }
    case 'action': {
      const whole = await amendPart(plan)
      const record = whole.record === null ? null : await amendPart(whole.record)
      return { ...whole, record, resultPlan: whole.resultPlan === null ? null : await amendPart(whole.resultPlan) }
    }
  }
}
