import type { Model, ModelStatic } from 'sequelize'
import type { OperationName, OperationTable } from '../lib/operations.js'
import type { Action } from './action.js'
import type { Call } from './call.js'
import type { Changes, Invalid } from './changes.js'
import type { ComputingField } from './computed.js'
import type { Dialect } from './dialect.js'
import type { Documented } from './documented.js'
import type { Request } from './express.js'
import type { Field } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { ResourceInfo } from './info.js'
import type { Intent, SingleIntent } from './intent.js'
import type { Told } from './messages.js'
import type { Outcome, Row } from './outcome.js'
import type { Caller, Plan, Predicate, Projection, SinglePlan } from './plan.js'
import type { Path, SortNode } from './query.js'
import type { LinkInfo, RelationInfo } from './relation.js'
import type { FormatFunction, Reply } from './reply.js'
import type { ConditionSource, RecordsBefore, Tracking } from './rooms.js'
import type { Standing } from './standing.js'

export type { OperationName }

/** The verdict on a body: the values that passed, which are all of them where nothing is wrong. */
export type Validation = { readonly changes: Changes } | ({ readonly changes: Changes } & Invalid)

/**
 * `rules`: nothing that the rules do not say. `attributes`: its own validators, which look at one value each.
 * `instance`: code of the host, or setters, that may look at the whole record. `saved`: types or versions that only
 * Sequelize itself can write.
 */
export type ModelValidation = 'rules' | 'attributes' | 'instance' | 'saved'

/** What a request says about the names in its bodies. */
export interface BodyNames {
  /** Refuses names that are neither a field's nor known, whatever the resource lets pass. */
  readonly unknown: 'reject' | undefined
  /** Whether the caller may write a member and may know of it: a field, or a relation by its JSON name. */
  readonly writable: (member: Field | string) => boolean
}

export type Validator = (body: Readonly<Record<string, unknown>>, names?: BodyNames) => Validation

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
  readonly ends: Ends
  /** Whether there are routes to it below each record's own. */
  readonly routes: boolean
  /** Whether a body may hold its records, or their keys. */
  readonly write: boolean
  /**
   * The resource by which routes and writes treat the target's records.
   *
   * @throws CrudConfigError where there is none, or no telling which
   */
  readonly speaker: () => Resource
}

/** A foreign key of the resource that bodies may set, and the resources over the model that it points into. */
export interface Reference {
  readonly field: Field
  /** The attribute there whose value it holds. */
  readonly key: string
  /** Those that may have a say; there is at least one. */
  readonly resources: readonly [Resource, ...Resource[]]
  /** Whether a record must be there that meets their conditions. Of the others only the spelling of a UUID is looked up. */
  readonly isBinding: boolean
}

/** What ties the records of a relation together, by attribute. */
export interface Ends {
  /** The source's: its foreign key where it belongs to the target, else what the target, or the table between, points at. */
  readonly source: string
  /** The target's: the foreign key where it belongs to the source, else what it is pointed at by. */
  readonly target: string
  /**
   * The attributes that all records behind the relation have, such as the type of a polymorphic one; mostly none.
   *
   * @throws TypeError where it is more than values
   */
  readonly fixed: () => ReadonlyMap<string, string | number | boolean | null>
}

export interface Link extends LinkInfo {
  /** Of its two foreign keys, the one that points at the source, and the one that points at the target. */
  readonly source: string
  readonly target: string
  /** The resources over it, whose consent a path needs as well. */
  readonly resources: () => readonly Resource[]
  /** The one by which its rows are written; null where there is none. @throws CrudConfigError where there are several */
  readonly speaker: () => Resource | null
  /** Whether the database holds that no two rows link the same two records. */
  readonly unique: boolean
  /**
   * The to-one relation from a record of the target to the row that links it, by the name of the join model: null where paths have no
   * such member.
   */
  readonly row: () => Relation | null
  /**
   * The attributes that all of its rows have which are the relation's; mostly none.
   *
   * @throws TypeError where it is more than values
   */
  readonly fixed: () => ReadonlyMap<string, string | number | boolean | null>
}

/** The projections of a record for callers to whom none of its fields is hidden, without the fields of flattened relations. */
export interface Whole {
  readonly response: Projection
  /** In lists. */
  readonly list: Projection
}

/** What a path may touch on one model: the intersection of what every resource mounted over it allows. */
export interface Reach {
  readonly model: ModelStatic<Model>
  /** Whether names are looked up as they are written. Else they are in lower case. */
  readonly isExact?: true
  /** By JSON name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly relations: ReadonlyMap<string, Relation>
  /** The resources whose consent the path needs; none where only explicit `relations` opened it. */
  readonly resources: readonly Resource[]
  /** The primary key, which tells a missing record from one whose other fields are null. */
  readonly presence: Field
  /** What tells its records apart, and puts them into an order where nobody asks for another one. */
  readonly order: readonly Field[]
}

/** What the parameter `search` looks through. */
export interface Search {
  /** Over to-one relations to fields of text. */
  readonly paths: readonly Path[]
  /** The resource's own fields that the database has an index of words over; null where the paths are looked through. */
  readonly fullText: readonly Field[] | null
}

/** A Sequelize model compiled for serving: frozen, and everything that a request reads. */
export interface Resource extends ResourceInfo, Facts {
  /** The operations that there are, whether or not they are on. */
  readonly table: OperationTable
  /** By name. */
  readonly actions: ReadonlyMap<string, Action>
  readonly softDeletes: boolean
  /** Keys to the opaque tokens of keyset pages and back. */
  readonly cursor: {
    readonly encode: (key: string) => string
    readonly decode: (token: string) => string | null
    /** The most characters of a token. */
    readonly maxLength: number
  }
  /** The fields that the application computes for replies. They are none of `fields`, which are attributes. */
  readonly computed: readonly ComputingField[]
  /** Attributes and computed fields, by lower-cased JSON name. */
  readonly byName: ReadonlyMap<string, Field>
  /** The service's own parameters here, by their exact names. */
  readonly reserved: ReadonlySet<string>
  /** The query parameters that stand for fields, by lower-cased JSON name. */
  readonly parameters: ReadonlyMap<string, Field>
  /** By lower-cased JSON name; found on first use, since models associate and routers mount in any order. */
  readonly relations: () => ReadonlyMap<string, Relation>
  /** The foreign keys that may be held against conditions of the records that they point at; found on first use as well. */
  readonly references: () => readonly Reference[]
  /** All attributes and associations by the names that the host has for them, for conditions of the host's. */
  readonly hosted: () => Reach
  /** Those that have routes below each record's own, and whether single records behind them have some too. */
  readonly nested: readonly { readonly json: string; readonly items: boolean }[]
  /** The members of bodies that may hold records of others, by JSON name. */
  readonly holds: readonly string[]
  readonly whole: Whole
  readonly defaultSort: readonly SortNode[]
  /** What the parameter `search` looks through; null where there is no such parameter. */
  readonly search: Search | null
  /** Puts messages of the package's own into words, the host's where it has any. */
  readonly tell: (told: Told) => string
  /** The model of the table in which replies are kept; null where none are. */
  readonly keptIn: (() => ModelStatic<Model>) | null
  /** What records can be told apart by: the key where clients choose it, and what is unique together in all of the table. */
  readonly uniques: readonly (readonly Field[])[]
  /** What of Sequelize's own validation has a say in writes. */
  readonly validation: ModelValidation
  /** The attributes whose validators are rules of bodies, every one of them. */
  readonly ruled: readonly string[]
  /** The attributes that take no null, and may be left to hooks or the database by a body. */
  readonly filled: readonly string[]
  /** Instances of whole records that may be in memory at once: `Infinity` where no column can be large. */
  readonly instancesAtOnce: number
  /** Whether exports leave text that a spreadsheet would take for a formula as it is. */
  readonly keepsFormulas: boolean
  /** Makes the bodies of replies of records; null where they are the package's own. */
  readonly format: FormatFunction | null
  /** Whether statements that run often get a name on PostgreSQL. */
  readonly namedStatements: boolean
  /** Whether each write is one transaction with the policies and hooks of its request. */
  readonly isTransactional: boolean
  /** The attributes whose values must be short enough before Sequelize validates them. */
  readonly bounded: readonly TextBound[]
  readonly validateCreate: Validator
  readonly validateUpdate: Validator
  /** The fields of an update, by the rules of a create: what is required must be there. */
  readonly validateReplace: Validator
  /** Fulfilled when the three above can be called: what they take loads after mounting, and only where bodies come. */
  readonly canValidate: Promise<void>
  readonly behaviours: Behaviours
  readonly documented: Documented
  /** Who sends a request; null where nothing asks. */
  readonly identity: IdentityFunction | null
  /** What its database can do. Asked for anew each time: some of it is known once there was a connection. */
  readonly dialect: () => Dialect
  readonly onError: (error: unknown, request: Request) => void
  /** Whether replies have `Server-Timing`, or the host's function that tells. */
  readonly serverTiming: boolean | ((request: Request) => boolean)
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
  /** The attribute that holds it; null for none. */
  readonly version: string | null
  /** Where replies to writes are kept, so that a write that is sent again is not done again; null where none are. */
  readonly keeps: Keeps | null
}

export interface Keeps {
  /** The host's own model of the table; null for the one that comes with the package. */
  readonly model: ModelStatic<Model> | null
}

/** A write that was planned. */
export interface Written {
  readonly resource: Resource
  readonly plan: Plan
  /** Those whose say in what the caller may see the reply depends on as well; absent for nobody's. */
  readonly sees?: readonly Resource[]
  /**
   * The resources whose records bodies of this one may hold, whether or not a body of this request does, and what the caller is
   * shown of each; null where he is refused.
   */
  readonly held: () => Promise<readonly (readonly [resource: Resource, shown: Projection | null])[]>
}

/** A write that is to be done once, however often it is sent. */
export interface Ticket {
  /** The caller, the request's place and its `Idempotency-Key`, as a hash of 64 digits. */
  readonly id: string
  /** What else the request says, likewise. */
  readonly fingerprint: string
  readonly expires: Date
  /** Whether its caller is unknown, so that other callers may have the same one. */
  readonly isShared: boolean
}

/** The places of the pipeline in which a behaviour may have a say. */
export interface BehaviourHooks {
  /** Decides before anything is read whether the caller may; throws the Problem that says no. */
  readonly admit: (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ) => void | Promise<void>
  /** Rewrites what the client sent before it is validated. */
  readonly accept: (resource: Resource, intent: SingleIntent, caller: Caller) => SingleIntent | Promise<SingleIntent>
  /** Around all that follows from what the client sent: sees the reply, may replace it or answer in its stead. */
  readonly around: (request: Sent, reply: () => Promise<Reply>) => Promise<Reply>
  /** Rewrites what is about to be done. */
  readonly amend: (resource: Resource, plan: SinglePlan, caller: Caller) => SinglePlan | Promise<SinglePlan>
  /** Whether the caller may read a field, wherever it is read. */
  readonly readable: (field: Field, caller: Caller) => boolean
  /** Whether the caller may write a field, wherever it is written. */
  readonly writable: (field: Field, caller: Caller) => boolean
  /** The permissions, or roles of these names, by which alone `readable` decides. */
  readonly permissions: readonly string[]
  /**
   * What of the resource's records the caller may meet on a relation path from another resource: those of a
   * condition, all (null), or none (false).
   */
  readonly reach: (resource: Resource, caller: Caller) => Reachable | Promise<Reachable>
  /**
   * What every record has that the caller may list, or may do something else with; of lists the same as a part of `reach`, as values.
   */
  readonly confine: (
    resource: Resource,
    caller: Caller,
    operation?: OperationName,
    action?: string,
  ) => Promise<Confinement>
  /**
   * The key of the caller's record, as it stands in paths, where each caller has one record, at the route itself.
   *
   * @throws Problem 404 for a caller without one
   */
  readonly ownKey: (resource: Resource, caller: Caller) => Promise<string>
  /** The part of `reach` that is the same whoever asks. */
  readonly standing: (resource: Resource) => Predicate
  /** Headers of every reply that depends on the resource's records, whatever its status. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of every reply on the resource's own routes, those below its records included. */
  readonly ownHeaders: Readonly<Record<string, string>>
  /** Headers of a reply with one record. */
  readonly recordHeaders: (plan: Plan, row: Row) => Readonly<Record<string, string>>
  /** Whether this is a write that is to be done once, decided when all that may refuse its caller has been asked. */
  readonly once: (request: Sent, work: Written) => Promise<Ticket | null>
  /** Lets a write wait for others. Not asked within the host's own transaction, which may hold what they wait for. */
  readonly inTurn: InTurn
  /**
   * Takes a place for a write among those that tell of the same records, while these are locked. Without an outcome it is
   * for the records that the plan names.
   */
  readonly stand: (resource: Resource, plan: Plan, outcome: Outcome | null, place: Standing) => void
  /** Awaits a write of one statement, which may be committed before others whose answers come earlier. */
  readonly expect: (place: Standing) => void
  /** Tells others of what was done, once it is committed. Returns at once: the reply does not wait for it. */
  readonly announce: (resource: Resource, plan: Plan, outcome: Outcome, by: Announcing) => void
  /** What must be read of the records of a write before it changes them, within its transaction; null for nothing. */
  readonly tracked: (plan: Plan) => Tracking | null
}

/** Who has written something, and where he stands among others who have. */
export interface Announcing {
  readonly caller: Caller
  readonly place: Standing
  readonly before: RecordsBefore
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
  /** The action that stands for the operation; absent for the operation itself. */
  readonly action?: Action | undefined
  readonly intent: Intent
  readonly caller: Caller
  readonly call: Call
}

export type InTurn = <T>(plan: Plan, write: () => Promise<T>) => Promise<T>

/** Fields that have these values. None is no limit. */
export type Fixed = readonly (readonly [field: Field, value: string | number | boolean | Date | null])[]

/** The limit of a caller to some of the records: values of attributes, and a condition; null for no condition. */
export interface Confinement {
  readonly fixed: Fixed
  readonly where: Predicate | null
  /** What `where` was made of, from which another process makes the same; empty where it is null. */
  readonly sources: readonly ConditionSource[]
}

export type Reachable = Predicate | null | false
