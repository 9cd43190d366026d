import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Hook, Hooks } from '../../types/hooks.js'
import type { Caller, Plan, WriteHook } from '../../types/plan.js'
import type { OperationName } from '../../types/resource.js'
import { isFunction, isObject, option, rows } from '../config/checks.js'
import { OPERATIONS } from '../operations.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Run inside the transaction of each write, once per record. */
    readonly hooks?: Hooks<M>
  }
}

const NOUNS = new Set(Object.values(OPERATIONS).flatMap(({ hook }) => hook ?? []))
const NAMES = [...NOUNS].flatMap((noun) => [`before${noun}`, `after${noun}`] as const)

/** The host's own code around each write, in its transaction. */
export const hooks: BehaviourDefinition = {
  options: {
    hooks: option(isObject, 'an object of functions', { members: rows(NAMES, option(isFunction, 'a function')) }),
  },
  prepare: (_, { hooks: given }) =>
    given === undefined
      ? null
      : {
          facts: { asksIdentity: true },
          behaviour: () => ({ amend: (_resource, plan, caller) => hooked(plan, given, caller) }),
        },
}

function hooked(plan: Plan, given: Hooks, caller: Caller): Plan {
  if (plan.kind === 'get' || plan.kind === 'page' || plan.kind === 'count' || plan.kind === 'keyset') return plan
  const noun = OPERATIONS[plan.kind].hook
  const before = bound(given[`before${noun}`], plan.kind, caller)
  const after = bound(given[`after${noun}`], plan.kind, caller)
  return { ...plan, before, after }
}

function bound(hook: Hook | undefined, operation: OperationName, { request, identity }: Caller): WriteHook | null {
  if (hook === undefined) return null
  return async (instance, transaction) => {
    await hook({ instance, transaction, request, identity, operation })
  }
}
