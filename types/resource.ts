import type { Model, ModelStatic } from 'sequelize'
import type { OperationName, OperationTable } from '../lib/operations.js'
import type { Action } from './action.js'
import type { Call } from './call.js'
import type { Changes, Invalid } from './changes.js'
import type { CommitPosition } from './commitPosition.js'
import type { CompiledComputedField } from './computed.js'
import type { Dialect } from './dialect.js'
import type { Documented } from './documented.js'
import type { Request } from './express.js'
import type { Field } from './field.js'
import type { IdentityFunction } from './identity.js'
import type { ResourceInfo } from './info.js'
import type { Intent, SingleIntent } from './intent.js'
import type { FieldMessage } from './messages.js'
import type { Outcome, Row } from './outcome.js'
import type { Caller, Plan, Predicate, Projection, SinglePlan } from './plan.js'
import type { Path, SortNode } from './query.js'
import type { JoinModelInfo, RelationInfo } from './relation.js'
import type { FormatFunction, Reply } from './reply.js'
import type { ConditionSource, RecordsBefore, Tracking } from './rooms.js'

export type { OperationName }

/** The result of validating a body. `changes` has the valid values, also of an invalid body. */
export type Validation = { readonly changes: Changes } | ({ readonly changes: Changes } & Invalid)

/**
 * The part of Sequelize's validation that a write needs. `attributes`: the validators of single values. `instance`:
 * host code or setters that may read the whole record. `saved`: types or versions that only Sequelize's `save` can write.
 */
export type ModelValidation = 'attributes' | 'instance' | 'saved'

/** An attribute with a value that Sequelize's validation may refuse. The table refuses a missing value itself. */
export interface ValidatedAttribute {
  readonly name: string
  /** Whether the rules of bodies check all that Sequelize checks. */
  readonly isRuled: boolean
  readonly hasValidators: boolean
  /** Whether Sequelize refuses objects and arrays. */
  readonly isText: boolean
}

/** The treatment of member names in the bodies of a request. */
export interface BodyNames {
  /** `reject` refuses unknown names even if the resource ignores them. Undefined: the resource decides. */
  readonly unknown: 'reject' | undefined
  /** Whether the caller may write a member and may know that it exists: a field, or a relation by its JSON name. */
  readonly writable: (member: Field | string) => boolean
}

export type Validator = (body: Readonly<Record<string, unknown>>, names?: BodyNames) => Validation

/** The maximum length of a text in characters, checked before the model's own patterns run. */
export interface TextBound {
  readonly attribute: string
  readonly json: string
  readonly max: number
  /** The error for a longer text. */
  readonly message: FieldMessage
}

/** An association as the query language uses it. `resolveTarget` resolves the target on every call. */
export interface Relation extends RelationInfo {
  /** The fields and relations of the target; null if paths may not use the relation. */
  readonly resolveTarget: () => ModelAccess | null
  readonly joinModel: JoinModel | null
  readonly attributes: RelationAttributes
  /** Whether routes below each record lead to the related records. */
  readonly routes: boolean
  /** Whether bodies may contain the related records or their keys. */
  readonly write: boolean
  /**
   * The resource that handles the target's records in nested routes and bodies.
   *
   * @throws CrudConfigError unless exactly one resource is mounted
   */
  readonly relatedResource: () => Resource
}

/** A writable foreign key of the resource, and the resources over its target model. */
export interface ForeignKeyReference {
  readonly field: Field
  /** The attribute of the target that the key refers to. */
  readonly key: string
  /** The resources that may restrict the foreign key check. There is at least one resource. */
  readonly resources: readonly [Resource, ...Resource[]]
  /**
   * Whether the target must exist and meet the resources' conditions. If not, only the stored spelling of a UUID is
   * looked up.
   */
  readonly isEnforced: boolean
}

/** The foreign key binding of a relation, by attribute. */
export interface RelationAttributes {
  /**
   * The source's attribute. For a belongsTo it is the source's foreign key. For others the target or the join model
   * refers to it.
   */
  readonly source: string
  /**
   * The target's attribute. For a hasOne or hasMany it is the target's foreign key. For others a foreign key refers to
   * it.
   */
  readonly target: string
  /**
   * Constant attributes of all related records, such as the type of a polymorphic relation; usually empty.
   *
   * @throws TypeError if the association's scope has other conditions than values
   */
  readonly fixed: () => ReadonlyMap<string, string | number | boolean | null>
}

export interface JoinModel extends JoinModelInfo {
  /** The join model's foreign keys to the source and to the target. */
  readonly source: string
  readonly target: string
  /** The resources over the join model. A path over the relation evaluates their policies as well. */
  readonly resources: () => readonly Resource[]
  /**
   * The resource that writes the join model's rows; null for a join model without a resource.
   *
   * @throws CrudConfigError if there are several
   */
  readonly joinModelResource: () => Resource | null
  /** Whether a unique index prevents duplicate links. */
  readonly unique: boolean
  /**
   * The to-one relation from a target record to its row of the join model, named after the join model. Null if paths
   * have no such member.
   */
  readonly joinRow: () => Relation | null
  /**
   * Constant attributes of the relation's rows in the join model; usually empty.
   *
   * @throws TypeError if the scope has other conditions than values
   */
  readonly fixed: () => ReadonlyMap<string, string | number | boolean | null>
}

/** The projections for callers without masked fields. Fields of flattened associations are not included. */
export interface UnmaskedProjections {
  readonly response: Projection
  /** The projection of list items. */
  readonly list: Projection
}

/** The fields and relations of a model that paths may use. Every resource over the model must allow them. */
export interface ModelAccess {
  readonly model: ModelStatic<Model>
  /** Whether names are case-sensitive. Default: names are looked up in lower case. */
  readonly isCaseSensitive?: true
  /** The fields and the relations, by JSON name. */
  readonly fields: ReadonlyMap<string, Field>
  readonly relations: ReadonlyMap<string, Relation>
  /** The resources whose policies the path evaluates; empty if only the option `relations` opened the model. */
  readonly resources: readonly Resource[]
  /** The field that shows whether a record is present: the primary key, which is null only if the record is missing. */
  readonly presenceField: Field
  /** The fields that identify records, and that are the default order. */
  readonly order: readonly Field[]
}

/** The configuration of the parameter `search`. */
export interface Search {
  /** Paths over to-one relations to text fields. */
  readonly paths: readonly Path[]
  /** The resource's fields with a full-text index; null if `search` reads the paths. */
  readonly fullText: readonly Field[] | null
}

/** A compiled Sequelize model: all data that requests read. Frozen. */
export interface Resource extends ResourceInfo, Facts {
  /** All operations, enabled or not. */
  readonly operationTable: OperationTable
  /** The actions by name. */
  readonly actions: ReadonlyMap<string, Action>
  readonly softDeletes: boolean
  /** Encodes keys as opaque tokens of cursor pages, and decodes tokens. */
  readonly cursor: {
    readonly encode: (key: string) => string
    readonly decode: (token: string) => string | null
    /** The longest token, in characters. */
    readonly maxLength: number
  }
  /** The fields that the application computes. `fields` contains only attributes. */
  readonly computed: readonly CompiledComputedField[]
  /** Attributes and computed fields, by lower-case JSON name. */
  readonly byName: ReadonlyMap<string, Field>
  /** The package's own query parameters for this resource, case-sensitive. */
  readonly reserved: ReadonlySet<string>
  /** The query parameters that filter by a field, by lower-case JSON name. */
  readonly parameters: ReadonlyMap<string, Field>
  /**
   * The relations by lower-case JSON name. Resolved on first use, because models and routers are set up in any order.
   */
  readonly relations: () => ReadonlyMap<string, Relation>
  /** Whether relation paths can lead to a resource with restricted records, or with headers for each reply. */
  readonly canReachRestricted: () => boolean
  /** The foreign keys with foreign key checks. Resolved on first use. */
  readonly references: () => readonly ForeignKeyReference[]
  /** All attributes and associations by the model's own names, for conditions of the host. */
  readonly hostAccess: () => ModelAccess
  /** The relations with routes below each record. `items` is true if single related records have routes as well. */
  readonly nested: readonly { readonly json: string; readonly items: boolean }[]
  /** The body members that may contain related records, by JSON name. */
  readonly nestedRelations: readonly string[]
  /** The resources whose records bodies may nest or link, at any depth. Resolved on first use. */
  readonly nestedResources: () => readonly Resource[]
  readonly unmaskedProjections: UnmaskedProjections
  /** The field of the version attribute; null without versions. */
  readonly versionField: Field | null
  readonly defaultSort: readonly SortNode[]
  /** The configuration of the parameter `search`; null without it. */
  readonly search: Search | null
  /** Translates a message of the package by the host's `messages`. */
  readonly translate: (message: FieldMessage) => string
  /** The model of the idempotency records; null without idempotency. */
  readonly idempotencyModel: (() => ModelStatic<Model>) | null
  /**
   * The sets of fields that identify a record: the key if clients choose it, and the unique indexes over the whole
   * table.
   */
  readonly uniques: readonly (readonly Field[])[]
  /** The part of Sequelize's validation that writes run. */
  readonly validation: ModelValidation
  /** The attributes that Sequelize's validation may refuse. */
  readonly validated: readonly ValidatedAttribute[]
  /** The attributes whose validators are all converted to rules for bodies. */
  readonly ruleValidated: readonly string[]
  /** The fields whose values Sequelize needs in another form: arrays, and opaque JSON whose type is given as SQL. */
  readonly rewritten: readonly Field[]
  /** The NOT NULL attributes that bodies may omit because hooks or the database fill them. */
  readonly filled: readonly string[]
  /** The most instances of whole records to hold in memory at once: `Infinity` if no column can be large. */
  readonly maxInstances: number
  /** Whether exports leave text that a spreadsheet would run as a formula unescaped. */
  readonly keepsFormulas: boolean
  /** Creates the bodies of replies with records; null for the default bodies. */
  readonly format: FormatFunction | null
  /** Whether frequent statements are named statements on PostgreSQL. */
  readonly namedStatements: boolean
  /** Whether each write runs in one transaction with the policies and hooks of its request. */
  readonly isTransactional: boolean
  /** The attributes whose length is checked before Sequelize's validation. */
  readonly textBounds: readonly TextBound[]
  readonly validateCreate: Validator
  readonly validateUpdate: Validator
  /** Validates the fields of an update by the rules of a create: required fields must be present. */
  readonly validateReplace: Validator
  /**
   * Resolves when the three validators can be called. The validators load after mounting, and only if the resource
   * accepts bodies.
   */
  readonly canValidate: Promise<void>
  readonly behaviours: Behaviours
  readonly documented: Documented
  /** Identifies the caller; null if no behaviour needs the caller. */
  readonly identity: IdentityFunction | null
  /** Returns the dialect. Call it on each use, because some properties are known only after the first connection. */
  readonly dialect: () => Dialect
  readonly onError: (error: unknown, request: Request) => void
  /** Whether replies have `Server-Timing`, or the host's function that decides. */
  readonly serverTiming: boolean | ((request: Request) => boolean)
}

/** Facts that behaviours make true of a resource. The default is false or null. */
export interface Facts {
  /** Whether a behaviour needs the caller's identity. */
  readonly needsIdentity: boolean
  /** Whether records or fields may be hidden from some callers. */
  readonly isRestricted: boolean
  /** Whether deleting marks records, so that deleted records can be listed and restored. */
  readonly softDeletes: boolean
  /** Whether records have a version for conditional writes. */
  readonly versions: boolean
  /** The version attribute; null without versions. */
  readonly version: string | null
  /** The storage of idempotency records; null without idempotency. */
  readonly idempotency: IdempotencyStorage | null
}

export interface IdempotencyStorage {
  /** The host's own model of the table; null for the package's model. */
  readonly model: ModelStatic<Model> | null
}

/** A planned write. */
export interface PlannedWrite {
  readonly resource: Resource
  readonly plan: Plan
  /**
   * Other resources whose behaviours affect the data that the caller may see in the reply; absent without other
   * resources.
   */
  readonly dependsOn?: readonly Resource[]
  /**
   * The resources whose records bodies may contain, even if this body does not. Each has the caller's projection, or
   * null if the caller may not read it.
   */
  readonly nestedProjections: () => Promise<readonly (readonly [resource: Resource, shown: Projection | null])[]>
}

/** A write with an `Idempotency-Key`, which is executed once. */
export interface IdempotencyRequest {
  /** The SHA-256 hash of the caller, the request's target and the `Idempotency-Key`, as 64 hexadecimal digits. */
  readonly id: string
  /** The hash of the rest of the request. */
  readonly fingerprint: string
  readonly expires: Date
  /** Whether the caller is unidentified, so that several callers may share this `id`. */
  readonly isShared: boolean
}

/** The hooks of the request pipeline that behaviours implement. */
export interface BehaviourHooks {
  /** Evaluates the policy before anything is read. @throws Problem if the policy refuses the caller */
  readonly admit: (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ) => void | Promise<void>
  /** Rewrites the client's input before validation. */
  readonly accept: (resource: Resource, intent: SingleIntent, caller: Caller) => SingleIntent | Promise<SingleIntent>
  /** Wraps the request after parsing. May read or replace the reply, or create the reply itself. */
  readonly around: (request: ParsedRequest, reply: () => Promise<Reply>) => Promise<Reply>
  /** Rewrites the plan before it is performed. */
  readonly amend: (resource: Resource, plan: SinglePlan, caller: Caller) => SinglePlan | Promise<SinglePlan>
  /** Whether the caller may read a field in responses and conditions. */
  readonly readable: (field: Field, caller: Caller) => boolean
  /** Whether the caller may write a field in bodies. */
  readonly writable: (field: Field, caller: Caller) => boolean
  /** The permissions or roles that affect the result of `readable`. */
  readonly permissions: readonly string[]
  /** The records that relation paths from other resources may use: a condition, null for all, or false for none. */
  readonly visibleRecords: (resource: Resource, caller: Caller) => VisibleRecords | Promise<VisibleRecords>
  /**
   * The scope of the caller's records for an operation; by default for lists. For lists the scope is a part of
   * `visibleRecords`.
   */
  readonly resolveScope: (
    resource: Resource,
    caller: Caller,
    operation?: OperationName,
    action?: string,
  ) => Promise<ResolvedScope>
  /**
   * The key of the caller's record, as in paths, for a singleton resource at the route itself.
   *
   * @throws Problem 404 for a caller without a record
   */
  readonly ownKey: (resource: Resource, caller: Caller) => Promise<string>
  /** The part of `visibleRecords` that does not depend on the caller. */
  readonly staticCondition: (resource: Resource) => Predicate
  /** Headers of every reply that depends on the resource's records, with any status. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers of every reply of the resource's routes, including routes below its records. */
  readonly ownHeaders: Readonly<Record<string, string>>
  /** Headers of a reply with one record. */
  readonly recordHeaders: (plan: Plan, row: Row) => Readonly<Record<string, string>>
  /** Returns the idempotency data of a write, after all authorization; null if the write is not stored for a replay. */
  readonly resolveIdempotency: (request: ParsedRequest, work: PlannedWrite) => Promise<IdempotencyRequest | null>
  /**
   * Queues a write behind other writes of its records. Not used within the host's own transaction, which could deadlock
   * with the queue.
   */
  readonly serializeWrite: SerializeWrite
  /**
   * Reserves the write's position in the commit order while its records are locked. With a null outcome, the plan
   * determines the records.
   */
  readonly noteCommitOrder: (resource: Resource, plan: Plan, outcome: Outcome | null, position: CommitPosition) => void
  /**
   * Registers a write of one statement before it runs. Such a write may be committed before another write whose result
   * arrives earlier.
   */
  readonly expectWrite: (position: CommitPosition) => void
  /**
   * Announces a committed write. Returns at once, so that the reply does not wait. The promise resolves when the events
   * are sent. Returns null if the write sends no events.
   */
  readonly announceWrite: (resource: Resource, plan: Plan, outcome: Outcome, by: WriteContext) => Promise<void> | null
  /** The data to read about the records of a write, in its transaction and before it; null if none is needed. */
  readonly selectTracking: (plan: Plan, hasModelHooks: boolean) => Tracking | null
}

/** The caller of a write, and its position in the commit order. */
export interface WriteContext {
  readonly caller: Caller
  readonly position: CommitPosition
  readonly before: RecordsBefore
  /** Resolves when the events of the parents are sent; null for a write without parents that send events. */
  readonly parentsSent: Promise<void> | null
}

/** The hooks that one behaviour implements. */
export type Behaviour = Partial<BehaviourHooks>

/** The combined behaviours of a resource. A hook that no behaviour implements is null and costs nothing. */
export type Behaviours = {
  readonly [hook in keyof BehaviourHooks]: BehaviourHooks[hook] extends (...given: never[]) => unknown
    ? BehaviourHooks[hook] | null
    : BehaviourHooks[hook]
}

/** A request after authorization of the operation and parsing. */
export interface ParsedRequest {
  readonly resource: Resource
  readonly operation: OperationName
  /** The action that the request calls. Absent if the request calls no action. */
  readonly action?: Action | undefined
  readonly intent: Intent
  readonly caller: Caller
  readonly call: Call
}

export type SerializeWrite = <T>(plan: Plan, write: () => Promise<T>) => Promise<T>

/** Required values of fields. Empty: no restriction. */
export type FixedValues = readonly (readonly [field: Field, value: string | number | boolean | Date | null])[]

/** The restriction of a caller to some records: values of attributes, and a condition (null for none). */
export interface ResolvedScope {
  readonly fixed: FixedValues
  readonly where: Predicate | null
  /** The sources of `where`, from which another process builds an equal condition. Empty if `where` is null. */
  readonly sources: readonly ConditionSource[]
}

export type VisibleRecords = Predicate | null | false
