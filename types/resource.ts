import type { Request } from 'express'
import type { Model, ModelStatic } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Changes, Invalid } from './changes.js'
import type { Dialect } from './dialect.js'
import type { Field } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { ResourceInfo } from './info.js'
import type { Intent } from './intent.js'
import type { Told } from './messages.js'
import type { Outcome, Row } from './outcome.js'
import type { Caller, Plan, Predicate } from './plan.js'
import type { SortNode } from './query.js'
import type { LinkInfo, RelationInfo } from './relation.js'
import type { Reply } from './reply.js'

export type { OperationName }

/** The verdict on a body: the values that passed, which are all of them where nothing is wrong. */
export type Validation = { readonly changes: Changes } | ({ readonly changes: Changes } & Invalid)

/**
 * `rules`: nothing that the rules do not say. `attributes`: its own validators, which look at one value each.
 * `instance`: code of the host, or setters, that may look at the whole record. `saved`: types or versions that only
 * Sequelize itself can write.
 */
export type ModelValidation = 'rules' | 'attributes' | 'instance' | 'saved'

export type Validator = (body: Readonly<Record<string, unknown>>) => Validation

/** The most characters that the text of an attribute may have where the model's own patterns meet it. */
export interface TextBound {
  readonly attribute: string
  readonly json: string
  readonly max: number
  /** What is said of longer ones. */
  readonly message: Told
}

/** An association as the query language sees it. `reach` resolves the target and is asked on every use. */
export interface Relation extends RelationInfo {
  /** What may be reached behind it, or null: then the path does not exist. */
  readonly reach: () => Reach | null
  readonly link: Link | null
}

export interface Link extends LinkInfo {
  /** The resources over it, whose consent a path needs as well. */
  readonly resources: () => readonly Resource[]
}

/** What a path may touch on one model: the intersection of what every resource mounted over it allows. */
export interface Reach {
  readonly model: ModelStatic<Model>
  /** By lower-cased JSON name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly relations: ReadonlyMap<string, Relation>
  /** The resources whose consent the path needs; none where only explicit `relations` opened it. */
  readonly resources: readonly Resource[]
  /** The primary key, which tells a missing record from one whose other fields are null. */
  readonly presence: Field
}

/** A Sequelize model compiled for serving: frozen, and everything that a request reads. */
export interface Resource extends ResourceInfo, Facts {
  readonly softDeletes: boolean
  /** Keys to the opaque tokens of keyset pages and back. */
  readonly cursor: {
    readonly encode: (key: string) => string
    readonly decode: (token: string) => string | null
  }
  /** By lower-cased JSON name. */
  readonly byName: ReadonlyMap<string, Field>
  /** The query parameters that stand for fields, by lower-cased JSON name. */
  readonly parameters: ReadonlyMap<string, Field>
  /** By lower-cased JSON name; found on first use, since models associate and routers mount in any order. */
  readonly relations: () => ReadonlyMap<string, Relation>
  readonly defaultSort: readonly SortNode[]
  /** Puts messages of the package's own into words, the host's where it has any. */
  readonly tell: (told: Told) => string
  /** What of Sequelize's own validation has a say in writes. */
  readonly validation: ModelValidation
  /** The attributes that take no null, and may be left to hooks or the database by a body. */
  readonly filled: readonly string[]
  /** The attributes whose values must be short enough before Sequelize validates them. */
  readonly bounded: readonly TextBound[]
  readonly validateCreate: Validator
  readonly validateUpdate: Validator
  /** Fulfilled when the two above can be called: what they take loads after mounting, and only where bodies come. */
  readonly canValidate: Promise<void>
  readonly behaviours: Behaviours
  /** Who sends a request; null where nothing asks. */
  readonly identity: IdentityFunction | null
  /** What its database can do. Asked for anew each time: some of it is known once there was a connection. */
  readonly dialect: () => Dialect
  readonly onError: (error: unknown, request: Request) => void
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
