import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { ActionHook, Hook, Hooks } from '../../types/hooks.js'
import type { ActionPlan, ActionPlanHook, Caller, SinglePlan, WriteHook } from '../../types/plan.js'
import type { OperationName } from '../../types/resource.js'
import { isListPlan } from '../common/listPlan.js'
import { isObject } from '../common/object.js'
import { isFunction, option, repeatRow } from '../config/checks.js'
import { OPERATIONS } from '../operations.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Hooks that run within the transaction of each write, once per record. */
    readonly hooks?: Hooks<M>
  }
}

const HOOK_NOUNS = new Set(Object.values(OPERATIONS).flatMap(({ hook }) => hook ?? []))
const HOOK_NAMES = [...HOOK_NOUNS, 'Action'].flatMap((noun) => [`before${noun}`, `after${noun}`] as const)

/** Runs the host's hooks around each write, within its transaction. */
export const hooks: BehaviourDefinition = {
  options: {
    hooks: option(isObject, 'an object of functions', {
      members: repeatRow(HOOK_NAMES, option(isFunction, 'a function')),
    }),
  },
  prepare: (_, { hooks: given }) =>
    given === undefined
      ? null
      : {
          facts: { needsIdentity: true },
          behaviour: () => ({ amend: (_resource, plan, caller) => addHooks(plan, given, caller) }),
        },
}

function addHooks(plan: SinglePlan, given: Hooks, caller: Caller): SinglePlan {
  if (plan.kind === 'get' || isListPlan(plan)) return plan
  if (plan.kind === 'action') return addActionHooks(plan, given)
  const { kind, operation = kind } = { operation: undefined, ...plan }
  const noun = OPERATIONS[kind].hook
  const before = bindHook(given[`before${noun}`], operation, caller)
  const after = bindHook(given[`after${noun}`], operation, caller)
  return { ...plan, before, after }
}

/** Adds the hooks of actions. A GET action does not write, so it has no hooks. */
function addActionHooks(plan: ActionPlan, { beforeAction, afterAction }: Hooks): ActionPlan {
  if (plan.action.method === 'get') return plan
  return { ...plan, before: bindActionHook(plan, beforeAction), after: bindActionHook(plan, afterAction) }
}

function bindActionHook({ action, caller, input }: ActionPlan, hook: ActionHook | undefined): ActionPlanHook | null {
  if (hook === undefined) return null
  const { request, identity } = caller
  const { name, operation } = action
  return async (instance, transaction) => {
    await hook({ instance, transaction, request, identity, operation, action: name, input })
  }
}

function bindHook(hook: Hook | undefined, operation: OperationName, { request, identity }: Caller): WriteHook | null {
  if (hook === undefined) return null
  return async (instance, transaction) => {
    await hook({ instance, transaction, request, identity, operation })
  }
}
