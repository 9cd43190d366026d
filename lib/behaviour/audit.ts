import type { Behaviour } from '../../types/behaviour.js'
import type { Value } from '../../types/field.js'
import type { Caller, Plan, Upkeep } from '../../types/plan.js'

export interface AuditStamps {
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string
  readonly updatedBy: string
}

/** Records carry who created and last wrote them and when: one instant a request, null for anonymous callers. */
export function audit(stamps: AuditStamps): Behaviour {
  return { name: 'audit', amend: (_, plan, caller) => amended(plan, stamps, caller) }
}

function amended(plan: Plan, { createdAt, updatedAt, createdBy, updatedBy }: AuditStamps, caller: Caller): Plan {
  const { instant, identity } = caller
  const name = identity?.name ?? null
  const updated: readonly (readonly [string, Value])[] = [
    [updatedAt, instant],
    [updatedBy, name],
  ]
  const touched = ({ values, increments }: Upkeep): Upkeep => ({ values: new Map([...values, ...updated]), increments })
  switch (plan.kind) {
    case 'create':
    case 'bulkCreate':
      return { ...plan, upkeep: new Map([...plan.upkeep, [createdAt, instant], [createdBy, name], ...updated]) }
    case 'update':
    case 'restore':
      return { ...plan, upkeep: touched(plan.upkeep) }
    case 'delete':
    case 'bulkDelete':
      return { ...plan, mark: plan.mark === null ? null : touched(plan.mark) }
    default:
      return plan
  }
}
