import type { ListPlan, Plan } from '../../types/plan.js'

const LISTS: Readonly<Record<ListPlan['kind'], true>> = {
  page: true,
  count: true,
  keyset: true,
  seek: true,
  aggregate: true,
  export: true,
}

/** Whether a plan reads and does not write. */
export function readsOnly(plan: Plan): boolean {
  return (
    plan.kind === 'get' || Object.hasOwn(LISTS, plan.kind) || (plan.kind === 'action' && plan.action.method === 'get')
  )
}

/** Whether a plan belongs to a list request, in any mode. */
export function isListPlan(plan: Plan): plan is ListPlan {
  return Object.hasOwn(LISTS, plan.kind)
}
