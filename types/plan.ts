import type { Model, Transaction } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Action } from './action.js'
import type { Changes, Invalid } from './changes.js'
import type { Request } from './express.js'
import type { Field } from './field.js'
import type { Identity } from './identity.js'
import type { Match, Preference } from './intent.js'
import type { Bookmark, KeyValue, OrderKey, Predicate } from './predicate.js'
import type { Projection } from './projection.js'
import type { Total } from './settings.js'

export type { PositiveOperator } from '../lib/language/operators.js'
export type {
  AbsentPredicate,
  AlwaysPredicate,
  ApartPredicate,
  BeyondKey,
  BeyondPredicate,
  Bookmark,
  BookmarkValue,
  Column,
  ComparePredicate,
  CountPredicate,
  Hop,
  ItemCountPredicate,
  ItemsPredicate,
  JunctionPredicate,
  KeyValue,
  MatchPredicate,
  NeverPredicate,
  NullPredicate,
  OrderKey,
  OwnedPredicate,
  PlainValue,
  PlainValues,
  Predicate,
  QuantifiedPredicate,
  TuplesPredicate,
} from './predicate.js'
export type { Embed, Member, Projection } from './projection.js'

/** Who asks, and when: one per request. */
export interface Caller {
  readonly request: Request
  readonly identity: Identity | null
  /** The instant that every stamp of this request carries. */
  readonly instant: Date
  /** What was found out about them, by those who did. */
  [remembered: symbol]: unknown
}

/** The condition of a scope for a record that is written. */
interface Scoped {
  /** The condition of the caller's scope, which the record must meet once everything is stored; absent for none. */
  readonly scope?: Predicate
  /** Whether the condition was asked already, before the first write of the request; absent for no. */
  readonly isAsked?: true
}

export interface GetPlan extends Scoped {
  readonly kind: 'get'
  /** Absent where the condition is not about one record. */
  readonly key?: KeyValue
  readonly where: Predicate
  readonly projection: Projection
  /** Whether it shows what changes without the record, so that no version of the record stands for it. */
  readonly isOfOthers?: boolean
  readonly preference?: Preference
}

interface Listing {
  readonly where: Predicate | null
  /** Whether deleted records are listed too. */
  readonly includeDeleted: boolean
  readonly preference: Preference
  /** Whether the client says which records it wants, how ordered or what of them; a page or a cursor is no such word. */
  readonly isAsked: boolean
}

export interface PagePlan extends Listing {
  readonly kind: 'page'
  readonly order: readonly OrderKey[]
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly projection: Projection
}

export interface CountPlan extends Listing {
  readonly kind: 'count'
}

/** Groups of records, in pages by number. */
export interface AggregatePlan extends Listing {
  readonly kind: 'aggregate'
  /** How many of the projection's columns, the first ones, the groups are made by; none where all records are one group. */
  readonly groups: number
  /** Over fields that are derived of whole groups. */
  readonly having: Predicate | null
  /** Of columns of the projection. */
  readonly order: readonly OrderKey[]
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly projection: Projection
}

/** `where` already holds "key greater than the last one seen". */
export interface KeysetPlan extends Listing {
  /** The key, ascending. */
  readonly order: readonly OrderKey[]
  readonly kind: 'keyset'
  /** Whether `where` holds nothing else, so that no more records are read than there are on the page. */
  readonly isWhole: boolean
  readonly pageSize: number
  readonly projection: Projection
}

/** A page from a place in any order, forwards or back. */
export interface SeekPlan extends Listing {
  readonly kind: 'seek'
  /** The list's own, whichever way it is walked. */
  readonly order: readonly OrderKey[]
  readonly back: boolean
  /** Null at the beginning. */
  readonly from: Bookmark | null
  /** What ties bookmarks to the resource and the order. */
  readonly mark: string
  readonly pageSize: number
  readonly projection: Projection
  /** Whether the first page, or the last line of an export, has the number of all records. */
  readonly isCounted: boolean
}

/** All records from a place in an order on, read in pages that one request puts together. */
export interface ExportPlan extends Omit<SeekPlan, 'kind'> {
  readonly kind: 'export'
  readonly format: string | null
  /** The most records. */
  readonly limit: number
}

export type ListPlan = PagePlan | CountPlan | KeysetPlan | SeekPlan | AggregatePlan | ExportPlan

/** What behaviours write beside the client's changes. */
export interface Upkeep {
  readonly values: Changes
  /** Attributes that rise by one, in the database. */
  readonly increments: readonly string[]
}

/** What a host's hook is given of a write: the record and its transaction. */
export type WriteHook = (instance: Model, transaction: Transaction) => Promise<void>

interface Hooked {
  readonly before: WriteHook | null
  readonly after: WriteHook | null
}

/** What must hold of a record that exists, told apart from "does not exist". */
export interface Precondition {
  /** The condition as part of the write; null where the request lacks what it needs. */
  readonly where: Predicate | null
  /** Makes the answer to a record that exists and does not meet the condition. */
  readonly refusal: () => Error
  /** What decides, and whether a record with this value of it meets the condition: the same, of a record that was read. */
  readonly field: Field
  readonly isMet: (stored: unknown) => boolean
}

/** What a part of a write that is made of others has beside what it would have alone. */
interface Writing extends Hooked, Scoped {
  /** The operation of the request, where it is another one than the plan's kind. */
  readonly operation?: OperationName | undefined
}

export interface CreatePlan extends Writing {
  readonly kind: 'create'
  /** Why the caller may not, where that must be known before it is known whether there is anything to create. */
  readonly refusal?: Error
  /** The values that passed. */
  readonly changes: Changes
  /** What the rules found; the record is not written, but what the model's validators find is told as well. */
  readonly invalid: Invalid | null
  readonly upkeep: Changes
  /** Restores the record that is deleted softly with these values; absent where a creation always inserts. */
  readonly revives?: UpdatePlan
  readonly projection: Projection
  /** The instant of the record's time stamps. */
  readonly instant: Date
}

/** A body that failed validation is a plan still: whether the record exists is asked first. */
export interface UpdatePlan extends Writing {
  readonly kind: 'update' | 'restore'
  readonly key: KeyValue
  /** The record by its key alone, to read it back by. */
  readonly identity: Predicate
  /** The identity, and every condition under which the record may be written. */
  readonly where: Predicate
  readonly precondition: Precondition | null
  readonly changes: Changes
  readonly upkeep: Upkeep
  readonly invalid: Invalid | null
  /** The version tags that the client sent; null for none. */
  readonly match: Match | null
  /** The attributes that a replacement gives their defaults, since its body does not name them; absent for a patch. */
  readonly absent?: ReadonlySet<string>
  readonly projection: Projection
  readonly instant: Date
}

export interface DeletePlan extends Hooked {
  readonly kind: 'delete'
  readonly key: KeyValue
  readonly where: Predicate
  readonly precondition: Precondition | null
  readonly match: Match | null
  /** What marks a record as deleted; null where the row is to go. */
  readonly mark: Upkeep | null
  /** What the outcome tells of the record as it was; null for nothing. Columns of its own only. */
  readonly report: Projection | null
  readonly instant: Date
}

export interface BulkCreatePlan extends Writing {
  readonly kind: 'bulkCreate'
  /** The attributes that make each record its owner's, which are among its values once the owners are there. */
  readonly owned?: readonly string[]
  readonly records: readonly Changes[]
  /** What the rules found, by the place of the body; null for a body that is no object. None: nothing is wrong. */
  readonly invalid: ReadonlyMap<number, Invalid | null>
  readonly upkeep: Changes
  readonly projection: Projection
  readonly instant: Date
}

export interface BulkDeletePlan extends Hooked {
  readonly kind: 'bulkDelete'
  /** Each once, in the order they were sent. */
  readonly keys: readonly KeyValue[]
  readonly where: Predicate
  readonly mark: Upkeep | null
  /** What the outcome tells of each record as it was, in the order of the keys; null for nothing. */
  readonly report: Projection | null
  readonly instant: Date
}

export interface BulkUpdatePlan {
  readonly kind: 'bulkUpdate'
  /** In the order of the body, each as it would be alone. */
  readonly items: readonly UpdatePlan[]
  /** Of all their records at once; only its condition counts. */
  readonly all: UpdatePlan
}

export interface ReplacePlan {
  readonly kind: 'replace'
  readonly update: UpdatePlan
  /** What makes the record where there is none; null where its key is not the client's to choose. */
  readonly create: CreatePlan | null
  /** Whether only that may be done. */
  readonly isNew: boolean
}

/** A body that is written to the record which it is found by, or makes one. */
export interface UpsertItem {
  /** What it is found by, the same text for the same values. */
  readonly name: string
  /** Of a record that is not known yet: neither its key nor its conditions are among the plan's. */
  readonly update: UpdatePlan
  readonly create: CreatePlan
}

export interface UpsertPlan {
  readonly kind: 'upsert'
  /** What records are found by; no two of them have the same values there. */
  readonly by: readonly Field[]
  /** What a value of each of these in a row is called. */
  readonly nameOf: (values: readonly unknown[]) => string
  readonly items: readonly UpsertItem[]
  /** The records with the values of the items, some of them at a time. */
  readonly wanted: readonly Predicate[]
  /** Of any record; only its condition counts. */
  readonly any: UpdatePlan
}

/** Runs around the handler of an action, with its record and transaction if it has them. */
export type ActionPlanHook = (instance: Model | null, transaction: Transaction | null) => Promise<void>

export interface ActionPlan {
  readonly kind: 'action'
  readonly action: Action
  readonly caller: Caller
  /** Finds the record, and saves it for POST. Null for an action of the collection. */
  readonly record: UpdatePlan | GetPlan | null
  /** Shows the records that the handler returns. Its condition is that of any record; null where no records are answered. */
  readonly show: GetPlan | null
  readonly input: unknown
  /** Errors of the input, reported after a missing record. */
  readonly errors: Readonly<Record<string, readonly string[]>> | null
  /** The condition of the scope, which what is stored must meet; null for none. */
  readonly limit: Predicate | null
  readonly before: ActionPlanHook | null
  readonly after: ActionPlanHook | null
}

/** What behaviours have a say in: a write that is made of others is asked for part by part. */
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
