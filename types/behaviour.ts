import type { Model, ModelStatic } from 'sequelize'
import type { OperationTable } from '../lib/operations.js'
import type { OptionShape } from './check.js'
import type { Field } from './field.js'
import type { Intent } from './intent.js'
import type { CrudOptions } from './options.js'
import type { Outcome, Row } from './outcome.js'
import type { Caller, Plan, Predicate } from './plan.js'
import type { OperationName, Reply, Resource } from './resource.js'
import type { Namespace } from './socket.js'

/** The places of the pipeline in which a behaviour may have a say. */
export interface BehaviourHooks {
  /** Decides before anything is read whether the caller may; throws the Problem that says no. */
  readonly admit: (resource: Resource, operation: OperationName, caller: Caller) => void | Promise<void>
  /** Rewrites what the client sent before it is validated. */
  readonly accept: (resource: Resource, intent: Intent, caller: Caller) => Intent | Promise<Intent>
  /** Around all that follows from what the client sent: sees the reply, may replace it or answer in its stead. */
  readonly around: (request: Sent, reply: () => Promise<Reply>) => Promise<Reply>
  /** Rewrites what is about to be done. */
  readonly amend: (resource: Resource, plan: Plan, caller: Caller) => Plan | Promise<Plan>
  /** Whether the caller may read a field, wherever it is read. */
  readonly readable: (field: Field, caller: Caller) => boolean
  /** The attributes of which `readable` may say no. */
  readonly guarded: readonly string[]
  /** The permissions, or roles of these names, by which alone `readable` decides. */
  readonly permissions: readonly string[]
  /**
   * What of the resource's records the caller may meet on a relation path from another resource: those of a
   * condition, all (null), or none (false).
   */
  readonly reach: (resource: Resource, caller: Caller) => Reachable | Promise<Reachable>
  /** What every record has that the caller may list; the same as a part of `reach`, as values. */
  readonly confine: (resource: Resource, caller: Caller) => Promise<Confinement>
  /** The part of `reach` that is the same whoever asks. */
  readonly standing: (resource: Resource) => Predicate
  /** Headers of every reply of the resource, whatever its status. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of a reply with one record. */
  readonly recordHeaders: (plan: Plan, row: Row) => Readonly<Record<string, string>>
  /** Lets a write wait for others. Not asked within the host's own transaction, which may hold what they wait for. */
  readonly inTurn: InTurn
  /** Tells others of what was done, once it is committed. Returns at once: the reply does not wait for it. */
  readonly announce: (resource: Resource, plan: Plan, outcome: Outcome, caller: Caller) => void
}

/** What one optional behaviour adds to the pipeline, and nothing of it anywhere else. */
export type Behaviour = Partial<BehaviourHooks>

/** The behaviours of one resource, folded. A function that no behaviour has is null and costs nothing. */
export type Behaviours = {
  readonly [hook in keyof BehaviourHooks]: BehaviourHooks[hook] extends (...given: never[]) => unknown
    ? BehaviourHooks[hook] | null
    : BehaviourHooks[hook]
}

/** A request that was admitted and read. */
export interface Sent {
  readonly resource: Resource
  readonly operation: OperationName
  readonly intent: Intent
  readonly caller: Caller
}

export type InTurn = <T>(plan: Plan, write: () => Promise<T>) => Promise<T>

/** Fields that have these values. None is no limit. */
export type Confinement = readonly (readonly [field: Field, value: string | number | boolean | Date | null])[]

export type Reachable = Predicate | null | false

/**
 * An optional behaviour as a row of the table: the options that switch it on, and what it does then. Compile asks the
 * rows in order and folds what they give into one function a hook.
 */
export interface BehaviourDefinition {
  /** Its options, each with its check. Their types are declared beside it, as members of `CrudOptions`. */
  readonly options: OptionShape
  /** True where only routes and hubs have it, so that `queryOf` takes its options and leaves them alone. */
  readonly routesOnly?: true
  /** Reads the options, which have passed their checks. Null where the resource does without. @throws CrudConfigError */
  readonly prepare: (subject: Subject, options: CrudOptions) => Prepared | null
}

/** What a behaviour may know of the model when the resource is compiled. */
export interface Subject {
  readonly model: ModelStatic<Model>
  /** The resource's path below the mount point. */
  readonly route: string
  /** All operations, whether or not the resource has them. */
  readonly operations: OperationTable
  /** The attributes in which Sequelize keeps its time stamps. */
  readonly timestamps: Readonly<Partial<Record<'createdAt' | 'updatedAt' | 'deletedAt', string>>>
}

/** A behaviour that a resource has. */
export interface Prepared {
  /** The attributes that it writes by itself; those that the model lacks are added to it. */
  readonly attributes?: readonly WantedAttribute[]
  /** What is true of the resource because of it. */
  readonly facts?: Partial<Facts>
  /**
   * Holds it against what is true of the resource because of the others, and against all attributes that the model will
   * have. @throws CrudConfigError
   */
  readonly check?: (facts: Facts, attributes: readonly string[]) => void
  /** `jsonNames` are those of the attributes. */
  readonly behaviour: (jsonNames: ReadonlyMap<string, string>) => Behaviour
  /** Takes its namespace. Comes when nothing can be wrong any more, since it cannot be taken back. */
  readonly open?: () => { readonly namespace: Namespace; readonly serve: (resource: Resource) => void }
}

/** The kinds of attributes that behaviours maintain: a boolean, a number that rises, a point in time, a name. */
export type WantedKind = 'mark' | 'version' | 'instant' | 'name'

export interface WantedAttribute {
  readonly name: string
  readonly kind: WantedKind
}

/** What is true of a resource because of its behaviours. Each is false where no behaviour says so. */
export interface Facts {
  /** It wants to know who is asking. */
  readonly asksIdentity: boolean
  /** Not every caller may see everything. */
  readonly restricts: boolean
  /** Deleting marks records, so that deleted ones can be listed and restored. */
  readonly softDeletes: boolean
  /** Records have a version, and writes may depend on it. */
  readonly versions: boolean
}
