import type { Behaviour } from '../../types/behaviour.js'
import type { Hook, Hooks } from '../../types/hooks.js'
import type { Caller, Plan, WriteHook } from '../../types/plan.js'
import type { OperationName } from '../../types/resource.js'

type Write = Exclude<Plan['kind'], 'get' | 'page' | 'count' | 'keyset'>

const NAMES: Readonly<Record<Write, 'Create' | 'Update' | 'Delete' | 'Restore'>> = {
  create: 'Create',
  bulkCreate: 'Create',
  update: 'Update',
  delete: 'Delete',
  bulkDelete: 'Delete',
  restore: 'Restore',
}

/** The host's own code around each write, in its transaction. */
export function hooks(given: Hooks): Behaviour {
  const bound = (hook: Hook | undefined, operation: OperationName, { request, identity }: Caller): WriteHook | null =>
    hook === undefined
      ? null
      : async (instance, transaction) => {
          await hook({ instance, transaction, request, identity, operation })
        }
  return {
    name: 'hooks',
    amend: (_, plan, caller) => {
      if (plan.kind === 'get' || plan.kind === 'page' || plan.kind === 'count' || plan.kind === 'keyset') return plan
      const name = NAMES[plan.kind]
      const before = bound(given[`before${name}`], plan.kind, caller)
      const after = bound(given[`after${name}`], plan.kind, caller)
      return { ...plan, before, after }
    },
  }
}
