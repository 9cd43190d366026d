import type { Model, Transaction } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Action } from './action.js'
import type { Changes, Invalid } from './changes.js'
import type { Request } from './express.js'
import type { Field } from './field.js'
import type { Identity } from './identity.js'
import type { Match, Preference } from './intent.js'
import type { CursorPosition, KeyValue, OrderKey, Predicate } from './predicate.js'
import type { Projection } from './projection.js'
import type { Total } from './settings.js'

export type { PositiveOperator } from '../lib/language/operators.js'
export type {
  AlwaysPredicate,
  Column,
  ComparePredicate,
  CountPredicate,
  CursorPosition,
  CursorValue,
  FullTextPredicate,
  ItemCountPredicate,
  ItemsPredicate,
  Join,
  JunctionPredicate,
  KeysetKey,
  KeysetPredicate,
  KeyValue,
  LinkedPredicate,
  MissingRelationPredicate,
  NeverPredicate,
  NullPredicate,
  OrderKey,
  PlainValue,
  PlainValues,
  Predicate,
  QuantifiedPredicate,
  SubqueryPredicate,
  TuplesPredicate,
} from './predicate.js'
export type { Embed, Member, Projection } from './projection.js'

/** The caller: identity, request and instant. There is one per request. */
export interface Caller {
  readonly request: Request
  readonly identity: Identity | null
  /** The instant of every timestamp that this request writes. */
  readonly instant: Date
  /** Results cached for this request, each under the symbol of its cache. */
  [remembered: symbol]: unknown
}

/** The scope's condition for a written record. */
interface ScopedWrite {
  /** The scope's condition, which the stored record must meet at the end of the write; absent without a scope. */
  readonly scope?: Predicate
  /** Whether the condition was evaluated before the request's first write. Absent: false. */
  readonly isScopeChecked?: true
}

export interface GetPlan extends ScopedWrite {
  readonly kind: 'get'
  /** The record's key; absent if the condition may match several records. */
  readonly key?: KeyValue
  readonly where: Predicate
  readonly projection: Projection
  /** Whether the record shows values of other records. If so, its version is not an entity tag of the reply. */
  readonly hasOtherRecords?: boolean
  readonly preference?: Preference
}

interface ListPlanBase {
  readonly where: Predicate | null
  /** Whether the list includes deleted records. */
  readonly includeDeleted: boolean
  readonly preference: Preference
  /** Whether the request has a filter, sort, search or selection. A page or a cursor does not count. */
  readonly hasQuery: boolean
}

export interface PagePlan extends ListPlanBase {
  readonly kind: 'page'
  readonly order: readonly OrderKey[]
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly projection: Projection
}

export interface CountPlan extends ListPlanBase {
  readonly kind: 'count'
}

/** Groups of records, in numbered pages. */
export interface AggregatePlan extends ListPlanBase {
  readonly kind: 'aggregate'
  /** The number of group columns, which come first in the projection; 0 if all records form one group. */
  readonly groups: number
  /** The condition on groups. Its fields are computed from whole groups. */
  readonly having: Predicate | null
  /** The order of groups, by columns of the projection. */
  readonly order: readonly OrderKey[]
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly projection: Projection
}

/** A cursor page. `where` already contains the keyset predicate: a key greater than the cursor's key. */
export interface KeysetPlan extends ListPlanBase {
  /** The order of the page: the key, ascending. */
  readonly order: readonly OrderKey[]
  readonly kind: 'keyset'
  /** Whether `where` is the keyset predicate alone, so that a page reads only its own rows. */
  readonly isKeysetOnly: boolean
  readonly pageSize: number
  readonly projection: Projection
}

/** A page after or before a position in any order. */
export interface SeekPlan extends ListPlanBase {
  readonly kind: 'seek'
  /** The order of the list, for both directions. */
  readonly order: readonly OrderKey[]
  readonly isBackward: boolean
  /** The position in the order; null for the first page. */
  readonly position: CursorPosition | null
  /** The sort signature: binds cursor tokens to the resource and the order. */
  readonly sortSignature: string
  readonly pageSize: number
  readonly projection: Projection
  /** Whether the first page, or the last line of an export, has the total number of records. */
  readonly isCounted: boolean
}

/** All records after a position, read in pages within one request. */
export interface ExportPlan extends Omit<SeekPlan, 'kind'> {
  readonly kind: 'export'
  readonly format: string | null
  /** The largest number of records in the export. */
  readonly limit: number
}

export type ListPlan = PagePlan | CountPlan | KeysetPlan | SeekPlan | AggregatePlan | ExportPlan

/** Values of server-managed columns, written with the client's changes. */
export interface ServerValues {
  readonly values: Changes
  /** Attributes that the database increments by one. */
  readonly increments: readonly string[]
}

/** Runs a hook of the host with the record and its transaction. */
export type WriteHook = (instance: Model, transaction: Transaction) => Promise<void>

interface HookedWrite {
  readonly before: WriteHook | null
  readonly after: WriteHook | null
}

/**
 * The condition on the version of an existing record. A record that fails it is reported differently from a missing
 * record, and as an outdated version in nested bodies and batches.
 */
export interface Precondition {
  /** The condition as part of the write's WHERE; null if the request lacks the required header. */
  readonly where: Predicate | null
  /** Creates the error for an existing record that does not meet the condition. */
  readonly createError: () => Error
  /** The field of the condition. `isMet` is the condition as a function of the field's value in a loaded record. */
  readonly field: Field
  readonly isMet: (stored: unknown) => boolean
}

/** Members of a write that may be part of a composite write. */
interface ComposableWrite extends HookedWrite, ScopedWrite {
  /** The operation of the request, if it differs from the plan's kind. */
  readonly operation?: OperationName | undefined
}

export interface CreatePlan extends ComposableWrite {
  readonly kind: 'create'
  /** The error of the policy for creating. It is thrown only if a record would be created. */
  readonly policyError?: Error
  /** The valid values of the body. */
  readonly changes: Changes
  /** Validation errors. The errors of the model's validators are added later. An invalid record is not written. */
  readonly invalid: Invalid | null
  readonly serverValues: Changes
  /** The update that restores a soft-deleted record instead of an insert; absent if a create always inserts. */
  readonly revives?: UpdatePlan
  readonly projection: Projection
  /** The instant of the record's timestamps. */
  readonly instant: Date
}

/** An update by key. An invalid body is planned too, because a missing record (404) takes precedence. */
export interface UpdatePlan extends ComposableWrite {
  readonly kind: 'update' | 'restore'
  readonly key: KeyValue
  /** The record's key alone, to read the record back. */
  readonly identity: Predicate
  /** The key, and every condition that the record must meet to be written. */
  readonly where: Predicate
  readonly precondition: Precondition | null
  readonly changes: Changes
  readonly serverValues: ServerValues
  readonly invalid: Invalid | null
  /** The version tags of the client; null if the client sent no version. */
  readonly match: Match | null
  /** The attributes missing in the body of a replacement, which get their defaults; absent for a patch. */
  readonly missingAttributes?: ReadonlySet<string>
  readonly projection: Projection
  readonly instant: Date
}

export interface DeletePlan extends HookedWrite {
  readonly kind: 'delete'
  readonly key: KeyValue
  readonly where: Predicate
  readonly precondition: Precondition | null
  readonly match: Match | null
  /** The values that mark a record as deleted; null to delete the row. */
  readonly softDelete: ServerValues | null
  /** The columns of the deleted record that the outcome needs; null for none. The record's own columns only. */
  readonly report: Projection | null
  readonly instant: Date
}

export interface BulkCreatePlan extends ComposableWrite {
  readonly kind: 'bulkCreate'
  /** The foreign key attributes of each record, whose values are known once the parents are inserted. */
  readonly parentKeys?: readonly string[]
  readonly records: readonly Changes[]
  /** Validation errors by the index of the body; null for a body that is not an object. Empty if all are valid. */
  readonly invalid: ReadonlyMap<number, Invalid | null>
  readonly serverValues: Changes
  readonly projection: Projection
  readonly instant: Date
}

export interface BulkDeletePlan extends HookedWrite {
  readonly kind: 'bulkDelete'
  /** The keys without duplicates, in the order of the request. */
  readonly keys: readonly KeyValue[]
  readonly where: Predicate
  readonly softDelete: ServerValues | null
  /** The columns of each deleted record that the outcome needs, in the order of the keys; null for none. */
  readonly report: Projection | null
  readonly instant: Date
}

export interface BulkUpdatePlan {
  readonly kind: 'bulkUpdate'
  /** The updates in the order of the body, each like a single update. */
  readonly items: readonly UpdatePlan[]
  /** An update whose condition matches the records of all items. Only its condition is used. */
  readonly combined: UpdatePlan
}

export interface ReplacePlan {
  readonly kind: 'replace'
  readonly update: UpdatePlan
  /** Creates the record if it does not exist; null if clients cannot choose its key. */
  readonly create: CreatePlan | null
  /** Whether the record may only be created. */
  readonly isCreateOnly: boolean
}

/** A body that updates the record with the body's unique values, or creates a record. */
export interface UpsertItem {
  /** The item's unique values as one text, equal for equal values. */
  readonly uniqueText: string
  /** The update of a record that is still unknown, so its key and conditions are missing. */
  readonly update: UpdatePlan
  readonly create: CreatePlan
}

export interface UpsertPlan {
  readonly kind: 'upsert'
  /** The unique fields that identify records. */
  readonly by: readonly Field[]
  /** Returns the unique values of a row as one text, in the form of `uniqueText` in `UpsertItem`. */
  readonly uniqueTextOf: (values: readonly unknown[]) => string
  readonly items: readonly UpsertItem[]
  /** Conditions for the records with the items' values, in chunks. */
  readonly lookups: readonly Predicate[]
  /** The update of any record. Only its condition is used. */
  readonly anyUpdate: UpdatePlan
}

/** Runs before or after the handler of an action, with its record and transaction if they exist. */
export type ActionPlanHook = (instance: Model | null, transaction: Transaction | null) => Promise<void>

export interface ActionPlan {
  readonly kind: 'action'
  readonly action: Action
  readonly caller: Caller
  /** Finds the record, and saves it after a POST. Null for an action of the collection. */
  readonly record: UpdatePlan | GetPlan | null
  /** Reads the returned records. Its condition covers all visible records; null if the action returns no records. */
  readonly resultPlan: GetPlan | null
  /** Reads a key that the handler returned; null if no record can have this key. */
  readonly readKey: (given: string | number | bigint | boolean) => KeyValue | null
  readonly input: unknown
  /** Errors of the input, reported after a missing record. */
  readonly errors: Readonly<Record<string, readonly string[]>> | null
  /** The scope's condition, which stored records must meet; null without a scope. */
  readonly scopeCondition: Predicate | null
  readonly before: ActionPlanHook | null
  readonly after: ActionPlanHook | null
}

/** The plans that behaviours amend. A composite write is amended part by part. */
export type SinglePlan =
  | GetPlan
  | ListPlan
  | CreatePlan
  | UpdatePlan
  | DeletePlan
  | BulkCreatePlan
  | BulkDeletePlan
  | ActionPlan

export type Plan = SinglePlan | BulkUpdatePlan | ReplacePlan | UpsertPlan
