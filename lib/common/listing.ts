import type { ListPlan, Plan } from '../../types/plan.js'

const LISTS: Readonly<Record<ListPlan['kind'], true>> = {
  page: true,
  count: true,
  keyset: true,
  seek: true,
  aggregate: true,
  export: true,
}

/** Whether a plan is of a list request, in whichever mode. */
export function isList(plan: Plan): plan is ListPlan {
  return Object.hasOwn(LISTS, plan.kind)
}
