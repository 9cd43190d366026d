import type { Caller, Plan } from './plan.js'
import type { OperationName, Resource } from './resource.js'

/**
 * An optional behaviour: what one feature adds to the pipeline, and nothing of it anywhere else. Compile folds the
 * behaviours that a resource uses, in the order of the table in `lib/behaviour/index.ts`, into one function a hook.
 */
export interface Behaviour {
  readonly name: string
  /** Decides before anything is read whether the caller may; throws the Problem that says no. */
  readonly admit?: (resource: Resource, operation: OperationName, caller: Caller) => void | Promise<void>
  /** Rewrites what is about to be done. */
  readonly amend?: (resource: Resource, plan: Plan, caller: Caller) => Plan | Promise<Plan>
}

/** The behaviours of one resource, folded. A hook that no behaviour has is null and costs nothing. */
export interface Behaviours {
  readonly admit: Behaviour['admit'] | null
  readonly amend: Behaviour['amend'] | null
}
