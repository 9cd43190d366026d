import type { Transaction } from 'sequelize'
import type { Changes } from './changes.js'
import type { Field, JsonValue } from './field.js'
import type { Outcome } from './outcome.js'
import type { BulkCreatePlan, BulkDeletePlan, Caller, GetPlan, KeyValue, Plan, Predicate, UpdatePlan } from './plan.js'
import type { OperationName, Resource } from './resource.js'
import type { RecordsBefore } from './rooms.js'

/** A plan with the nested writes and foreign keys of its bodies. */
export interface Work<P extends Plan = Plan> {
  readonly resource: Resource
  readonly plan: P
  /** The foreign key checks; usually empty. */
  readonly foreignKeyChecks: readonly ForeignKeyCheck[]
  /** The nested writes; absent for a body without nested records. */
  readonly nestedWrites?: readonly NestedWrite[]
  /**
   * Other resources whose behaviours affect the data that the caller may see in the reply; absent without other
   * resources.
   */
  readonly dependsOn?: readonly Resource[]
  /** The nested writes of each record of a batch, or of a body that updates or creates; absent without nested records. */
  readonly items?: readonly ItemNestedWrites[]
  /**
   * The resources whose records the bodies may contain or link, at any depth; absent if the bodies name no relation.
   */
  readonly nestedResources?: readonly Resource[]
  /** The places of the bodies within their parent's body, as in error messages. */
  readonly places?: readonly string[]
  /** The error that replaces the write, such as a missing parent. A stored reply of the request is replayed instead. */
  readonly refusal?: Error
  /** The policy checks of nested writes; absent if only the resource's own policy applies. */
  readonly policyChecks?: PolicyChecks
}

/** The policies that allowed nested writes, by resource and operation. */
export type PassedPolicies = readonly (readonly [resource: string, operation: OperationName])[]

/** The policies of other resources that a write evaluates. */
export interface PolicyChecks {
  readonly passed: () => PassedPolicies
  /** Evaluates the policies again before a replay. @throws Problem 401 or 403 */
  readonly repeat: (passed: PassedPolicies) => Promise<void>
}

/** A foreign key check: a foreign key in a body, and the condition on the referenced record. */
export interface ForeignKeyCheck {
  readonly field: Field
  /** A resource over the referenced model, and the referenced field. */
  readonly target: Resource
  readonly key: Field
  readonly condition: Predicate | null
  /**
   * Whether the record must exist and meet the condition. If not, the lookup only finds the stored spelling of a UUID.
   */
  readonly isEnforced: boolean
  /** Whether the caller may read the stored foreign key. If so, the body may repeat the stored value unchecked. */
  readonly isReadable: boolean
}

/** The nested writes of one body that updates or creates a record. */
export interface ItemNestedWrites {
  /** The nested writes if the record exists. */
  readonly planExisting: (key: KeyValue) => Promise<readonly NestedWrite[]>
  /** The nested writes if the record is new. */
  readonly forNew: readonly NestedWrite[]
}

/** The nested writes of one relation. */
export type NestedWrite = ChildInserts | ChildReplacement | LinkChange

interface NestedWriteBase {
  /** The name of the relation's member in the parent's body. */
  readonly json: string
  readonly resource: Resource
  readonly binding: ForeignKeyBinding
  /** Format errors of the member's value, by place in the body. */
  readonly errors: ErrorsByPlace
}

export type ErrorsByPlace = Readonly<Record<string, readonly string[]>>

/** The foreign key binding of a child to its parent. */
export interface ForeignKeyBinding {
  /** The parent's attribute, and the child's foreign key, which refers to it. */
  readonly source: Field
  readonly key: Field
  /** Constant values of all records of the relation. */
  readonly fixed: ReadonlyMap<Field, string | number | boolean | null>
}

/** Plans writes of children, or of rows of a join model. Each plan evaluates the policy of its operation. */
export interface ChildWrites {
  readonly create: (all: readonly PlacedBody[]) => Promise<PlannedPart<BulkCreatePlan>>
  readonly update: (placed: PlacedBody, key: KeyValue) => Promise<PlannedPart<UpdatePlan>>
  readonly remove: (keys: readonly KeyValue[]) => Promise<PlannedPart<BulkDeletePlan>>
  /** Restores a deleted row of the join model instead of inserting a duplicate link. */
  readonly restore: (key: KeyValue) => Promise<PlannedPart<UpdatePlan>>
}

/** The body of one record, and its place in the parent's body. */
export interface PlacedBody {
  readonly place: string
  /** The body; null if there is no body to write. */
  readonly body: Readonly<Record<string, unknown>> | null
}

/** Children of new parents. */
export interface ChildInserts extends NestedWriteBase {
  readonly kind: 'new'
  /** Whether the relation is a collection. */
  readonly many: boolean
  readonly caller: Caller
  /** The inserts of all children, in the order of their parents. */
  readonly work: Work<BulkCreatePlan>
  /** The indexes of the children by parent: undefined if the body omits the relation, null if it sets null. */
  readonly groups: readonly (readonly number[] | null | undefined)[]
}

/** The replacement of the children of one existing parent. */
export interface ChildReplacement extends NestedWriteBase, ChildWrites {
  readonly kind: 'replaced'
  /** The place of the relation in the request. */
  readonly place: string
  /** Whether the relation is a collection. */
  readonly many: boolean
  /** The elements in the order of the body. A to-one relation has one element, or no element for null. */
  readonly elements: readonly BodyElement[]
  /** The condition on children that the caller may replace; null for all. */
  readonly condition: Predicate | null
  /** Whether clients choose keys, so that an unknown key creates a child. */
  readonly hasClientKeys: boolean
  /**
   * The number of missing children that the request may still delete. `createLimitError` creates the error for more.
   */
  readonly remainingDeletes: number
  readonly createLimitError: () => Error
  /** Plans the read of children that stay unchanged. */
  readonly planRead: (keys: readonly KeyValue[]) => Promise<PlannedPart<GetPlan>>
}

/** Changes of the links of several parents: rows of a join model. */
export interface LinkChange extends NestedWriteBase, ChildWrites {
  readonly kind: 'linked'
  /**
   * Whether the records of the body replace the existing links, are added to the links, or are removed from the links.
   */
  readonly mode: 'set' | 'add' | 'remove'
  /** The place of the relation in the body of an existing parent; absent if the request changes only links. */
  readonly place?: string
  /** Whether the request's path names one linked record. */
  readonly isOne: boolean
  /** The resource over the join model. The binding's key is the join model's foreign key to the parent. */
  readonly joinModelResource: Resource
  /** The join model's foreign key to the linked record, and the referenced attribute of the linked record. */
  readonly key: Field
  readonly target: Field
  /** Whether a unique index prevents duplicate links. */
  readonly isUnique: boolean
  /** The conditions on visible records and on visible rows of the join model (null for all rows). */
  readonly targetCondition: Predicate
  readonly joinRowCondition: Predicate | null
  /** The links by parent; undefined if the parent's body omits the relation. */
  readonly groups: readonly (readonly LinkTarget[] | undefined)[]
}

/** A record to link or unlink. */
export interface LinkTarget extends PlacedBody {
  /** The key of the record; undefined if no record can have this key. */
  readonly key: KeyValue | undefined
  /** Foreign keys in the body that only the database can compare; absent if this process can compare all. */
  readonly bodyKeys?: readonly BodyKey[]
}

/** A foreign key in a body, which the database compares with the required key. */
export interface BodyKey {
  readonly place: string
  readonly end: 'owner' | 'path-key'
  readonly value: unknown
}

/** The numbers of added and removed links. */
export interface LinkCounts {
  readonly linked: number
  readonly unlinked: number
}

/** A planned part of a request. It has its own caller, because scopes may differ by operation. */
export interface PlannedPart<P extends Plan> {
  readonly work: Work<P>
  readonly caller: Caller
}

export interface BodyElement extends PlacedBody {
  /**
   * Returns the child's key. In a composite key, the parent's key may be a part of it. Null if the element has no key;
   * undefined if no record can have its key.
   */
  readonly keyOf: (parentKey: JsonValue) => KeyValue | null | undefined
  /** Whether the element has no key. */
  readonly isNew: boolean
  /** Whether the element has only a key, so that the record stays unchanged. */
  readonly isUnchanged: boolean
  /** Foreign keys in the element's body that only the database can compare with the parent's key. */
  readonly bodyKeys: readonly BodyKey[]
}

/** The result of a write. */
export interface WriteResult {
  readonly work: Work
  readonly outcome: Outcome
  /** The nested records, in the order of the bodies. */
  readonly nested: readonly NestedResult[]
  /** Other writes of the request, in order. */
  readonly parts: readonly WrittenPart[]
  /** The numbers of changed links; present if the request changes links. */
  readonly linkCounts?: LinkCounts
}

/** Completes a write within its transaction. An error rolls the write back. */
export type Finish = (done: WriteResult, transaction: Transaction) => Promise<void>

/** Reports the progress of a write, to put push events into commit order. */
export interface CommitOrder {
  /** An attempt begins. Writes of an earlier attempt are rolled back. */
  readonly beginAttempt: () => void
  /** A part is written. Its records are locked until the commit. */
  readonly noteWrite: (work: Work, outcome: Outcome) => void
  /**
   * All is written, and the records are locked until the commit. `outcome` is null if parts were reported by
   * `noteWrite`.
   */
  readonly prepareCommit: (outcome: Outcome | null) => void
  /** The write is one statement without a transaction. Only its result shows that it is committed. */
  readonly expectCommit: () => void
  /** The state of the current attempt's records before the write. */
  readonly before: RecordsBefore
}

export interface WrittenPart {
  readonly result: WriteResult
  readonly caller: Caller
}

export interface NestedResult {
  /** The index of the parent among the outcome's records. */
  readonly parentIndex: number
  readonly json: string
  readonly value: ResultRecord | readonly ResultRecord[] | LinkedKeys | null
}

/** The keys of the linked records. */
export interface LinkedKeys {
  readonly keys: readonly JsonValue[]
}

/** A record of a write's result. */
export interface ResultRecord {
  readonly result: WriteResult
  readonly index: number
}

/** Foreign key values of new children, by index of the child. */
export type BindingValues = readonly Changes[]
