import type { Field } from './field.js'
import type { Intent } from './intent.js'
import type { Row } from './outcome.js'
import type { Caller, Plan, Predicate } from './plan.js'
import type { OperationName, Resource } from './resource.js'

/**
 * An optional behaviour: what one feature adds to the pipeline, and nothing of it anywhere else. Compile folds the
 * behaviours that a resource uses, in the order of the table in `lib/behaviour/index.ts`, into one function a hook.
 */
export interface Behaviour {
  readonly name: string
  /** Decides before anything is read whether the caller may; throws the Problem that says no. */
  readonly admit?: (resource: Resource, operation: OperationName, caller: Caller) => void | Promise<void>
  /** Rewrites what the client sent before it is validated. */
  readonly accept?: (resource: Resource, intent: Intent, caller: Caller) => Intent | Promise<Intent>
  /** Rewrites what is about to be done. */
  readonly amend?: (resource: Resource, plan: Plan, caller: Caller) => Plan | Promise<Plan>
  /** Whether the caller may read a field, wherever it is read. */
  readonly readable?: (field: Field, caller: Caller) => boolean
  /** The attributes of which `readable` may say no. */
  readonly guarded?: readonly string[]
  /**
   * What of the resource's records the caller may meet on a relation path from another resource: those of a
   * condition, all (null), or none (false).
   */
  readonly reach?: (resource: Resource, caller: Caller) => Reachable | Promise<Reachable>
  /** Headers of every reply of the resource, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers of a reply with one record. */
  readonly recordHeaders?: (plan: Plan, row: Row) => Readonly<Record<string, string>>
}

export type Reachable = Predicate | null | false

/** The behaviours of one resource, folded. A hook that no behaviour has is null and costs nothing. */
export interface Behaviours {
  readonly admit: NonNullable<Behaviour['admit']> | null
  readonly accept: NonNullable<Behaviour['accept']> | null
  readonly amend: NonNullable<Behaviour['amend']> | null
  readonly readable: NonNullable<Behaviour['readable']> | null
  readonly guarded: readonly string[]
  readonly reach: NonNullable<Behaviour['reach']> | null
  readonly headers: Readonly<Record<string, string>>
  readonly recordHeaders: NonNullable<Behaviour['recordHeaders']> | null
}
