import type { Request } from 'express'
import type { Model, Transaction } from 'sequelize'
import type { PositiveOperator } from '../lib/language/operators.js'
import type { Changes, Invalid } from './changes.js'
import type { Field, FilterValue, JsonValue } from './field.js'
import type { Identity } from './identity.js'
import type { Match, Preference } from './intent.js'
import type { Direction } from './query.js'
import type { RelationInfo } from './relation.js'
import type { Total } from './settings.js'

/** Who asks, and when: one per request. */
export interface Caller {
  readonly request: Request
  readonly identity: Identity | null
  /** The instant that every stamp of this request carries. */
  readonly instant: Date
}

/**
 * A relation crossed by a path, with the conditions that the caller's view puts on the records that are met. `V` is how
 * the values are held that a predicate compares with.
 */
export interface Hop<V = PlainValues> {
  readonly relation: RelationInfo
  /** On those of the target; null where every one may be met. */
  readonly guard: Predicate<V> | null
  /** On the rows that link a many-to-many; null where every one of them may be met, or there are none. */
  readonly linkGuard: Predicate<V> | null
}

/** A field reached from the root over to-one hops. */
export interface Column<V = PlainValues> {
  readonly hops: readonly Hop<V>[]
  readonly field: Field
  /** True when the field or any hop may be null. */
  readonly nullable: boolean
}

export type { PositiveOperator }

/** A key in a request, read for its field's type. */
export type KeyValue = string | number

export type PlainValue = Extract<FilterValue, { kind: 'value' }>['value']

export type PlainValues = readonly PlainValue[]

/** `negated` is the exact complement: it is met where the field is null. */
export interface ComparePredicate<V = PlainValues> {
  readonly kind: 'compare'
  readonly column: Column<V>
  readonly operator: PositiveOperator
  readonly values: V
  readonly ignoreCase: boolean
  readonly negated: boolean
}

export interface NullPredicate<V = PlainValues> {
  readonly kind: 'null'
  readonly column: Column<V>
  readonly negated: boolean
}

/** The to-one relation at the end of `hops` has no record that the caller may meet. */
export interface AbsentPredicate<V = PlainValues> {
  readonly kind: 'absent'
  readonly hops: readonly Hop<V>[]
  readonly negated: boolean
}

/** `any`, `all` or `none` of the elements behind `hop` meet the condition; the paths in it start at the element. */
export interface QuantifiedPredicate<V = PlainValues> {
  readonly kind: 'quantified'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly hops: readonly Hop<V>[]
  readonly hop: Hop<V>
  readonly condition: Predicate<V>
}

/** The number of elements that meet the condition (null: of all), compared. */
export interface CountPredicate<V = PlainValues> {
  readonly kind: 'count'
  readonly hops: readonly Hop<V>[]
  readonly hop: Hop<V>
  readonly condition: Predicate<V> | null
  readonly operator: PositiveOperator
  readonly values: V
  readonly negated: boolean
}

export interface JunctionPredicate<V = PlainValues, K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly Predicate<V>[]
}

/** Met by no record. */
export interface NeverPredicate {
  readonly kind: 'never'
}

/** Met by every record. */
export interface AlwaysPredicate {
  readonly kind: 'always'
}

/** What a filter means here: names resolved, values typed. */
export type Predicate<V = PlainValues> =
  | ComparePredicate<V>
  | NullPredicate<V>
  | AbsentPredicate<V>
  | QuantifiedPredicate<V>
  | CountPredicate<V>
  | JunctionPredicate<V, 'and'>
  | JunctionPredicate<V, 'or'>
  | NeverPredicate
  | AlwaysPredicate

export interface OrderKey<V = PlainValues> {
  readonly column: Column<V>
  readonly direction: Direction
}

/** One member of a reply's records. Indexes are into the projection's columns. */
export type Member =
  /** A value that no column gives: what a caller sees who may not see the field. */
  | { readonly kind: 'constant'; readonly json: string; readonly value: JsonValue }
  | { readonly kind: 'value'; readonly json: string; readonly index: number; readonly field: Field }
  /** A nested object, null where the column `presence` is. */
  | {
      readonly kind: 'nested'
      readonly json: string
      readonly presence: number
      readonly members: readonly Member[]
    }
  /** A JSON column whose members become members of the record. */
  | { readonly kind: 'flattened'; readonly json: string; readonly index: number; readonly field: Field }

/** What a reply's records hold: the columns to read and the members to make of them. */
export interface Projection {
  readonly columns: readonly Column[]
  readonly members: readonly Member[]
  /**
   * The indexes of the columns that the caller may see as they are; none unless told. The others are read for what the
   * package itself needs to know: keys for locations, versions, whether there is a record at the end of a path.
   */
  readonly shown?: ReadonlySet<number>
}

export interface GetPlan {
  readonly kind: 'get'
  readonly where: Predicate
  readonly projection: Projection
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

/** `where` already holds "key greater than the last one seen". */
export interface KeysetPlan extends Listing {
  /** The key, ascending. */
  readonly order: readonly OrderKey[]
  readonly kind: 'keyset'
  readonly pageSize: number
  readonly projection: Projection
}

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
}

export interface CreatePlan extends Hooked {
  readonly kind: 'create'
  /** The values that passed. */
  readonly changes: Changes
  /** What the rules found; the record is not written, but what the model's validators find is told as well. */
  readonly invalid: Invalid | null
  readonly upkeep: Changes
  readonly projection: Projection
  /** The instant of the record's time stamps. */
  readonly instant: Date
}

/** A body that failed validation is a plan still: whether the record exists is asked first. */
export interface UpdatePlan extends Hooked {
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

export interface BulkCreatePlan extends Hooked {
  readonly kind: 'bulkCreate'
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

export type Plan =
  | GetPlan
  | PagePlan
  | CountPlan
  | KeysetPlan
  | CreatePlan
  | UpdatePlan
  | DeletePlan
  | BulkCreatePlan
  | BulkDeletePlan
