import type { Field } from './field.js'
import type { Intent } from './intent.js'
import type { Outcome, Row } from './outcome.js'
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
  /** The permissions, or roles of these names, by which alone `readable` decides. */
  readonly permissions?: readonly string[]
  /**
   * What of the resource's records the caller may meet on a relation path from another resource: those of a
   * condition, all (null), or none (false).
   */
  readonly reach?: (resource: Resource, caller: Caller) => Reachable | Promise<Reachable>
  /** What every record has that the caller may list; the same as a part of `reach`, as values. */
  readonly confine?: (resource: Resource, caller: Caller) => Promise<Confinement>
  /** The part of `reach` that is the same whoever asks. */
  readonly standing?: (resource: Resource) => Predicate
  /** Headers of every reply of the resource, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers of a reply with one record. */
  readonly recordHeaders?: (plan: Plan, row: Row) => Readonly<Record<string, string>>
  /** Lets a write wait for others. Not asked within the host's own transaction, which may hold what they wait for. */
  readonly inTurn?: InTurn
  /** Tells others of what was done, once it is committed. Returns at once: the reply does not wait for it. */
  readonly announce?: (resource: Resource, plan: Plan, outcome: Outcome, caller: Caller) => void
}

export type InTurn = <T>(plan: Plan, write: () => Promise<T>) => Promise<T>

/** Fields that have these values. None is no limit. */
export type Confinement = readonly (readonly [field: Field, value: string | number | boolean | Date | null])[]

export type Reachable = Predicate | null | false

/** The behaviours of one resource, folded. A hook that no behaviour has is null and costs nothing. */
export interface Behaviours {
  readonly admit: NonNullable<Behaviour['admit']> | null
  readonly accept: NonNullable<Behaviour['accept']> | null
  readonly amend: NonNullable<Behaviour['amend']> | null
  readonly readable: NonNullable<Behaviour['readable']> | null
  readonly guarded: readonly string[]
  readonly permissions: readonly string[]
  readonly confine: NonNullable<Behaviour['confine']> | null
  readonly standing: NonNullable<Behaviour['standing']> | null
  readonly reach: NonNullable<Behaviour['reach']> | null
  readonly headers: Readonly<Record<string, string>>
  readonly recordHeaders: NonNullable<Behaviour['recordHeaders']> | null
  readonly inTurn: InTurn | null
  readonly announce: NonNullable<Behaviour['announce']> | null
}
