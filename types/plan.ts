import type { Request } from 'express'
import type { Field, FilterValue, Value } from './field.js'
import type { Identity } from './identity.js'
import type { Direction, Operator } from './query.js'
import type { Changes, Relation, Resource } from './resource.js'

/** Who asks, and when: one per request. */
export interface Caller {
  readonly request: Request
  readonly identity: Identity | null
  /** The instant that every stamp of this request carries. */
  readonly instant: Date
}

/** A relation crossed by a path, with the condition that the caller's view puts on the target's records. */
export interface Hop {
  readonly relation: Relation
  /** Null where every record of the target may be met. */
  readonly guard: Predicate | null
}

/** A field reached from the root over to-one hops. */
export interface Column {
  readonly hops: readonly Hop[]
  readonly field: Field
  /** True when the field or any hop may be null. */
  readonly nullable: boolean
}

/** The operators that are left when negation is a flag. */
export type PositiveOperator = Exclude<Operator, 'ne' | 'notContains' | 'notStartsWith' | 'notEndsWith' | 'notIn'>

export type PlainValue = Extract<FilterValue, { kind: 'value' }>['value']

/** `negated` is the exact complement: it is met where the field is null. */
export interface ComparePredicate {
  readonly kind: 'compare'
  readonly column: Column
  readonly operator: PositiveOperator
  readonly values: readonly PlainValue[]
  readonly ignoreCase: boolean
  readonly negated: boolean
}

export interface NullPredicate {
  readonly kind: 'null'
  readonly column: Column
  readonly negated: boolean
}

/** The to-one relation at the end of `hops` has no record that the caller may meet. */
export interface AbsentPredicate {
  readonly kind: 'absent'
  readonly hops: readonly Hop[]
  readonly negated: boolean
}

/** `any`, `all` or `none` of the elements behind `hop` meet the condition; the paths in it start at the element. */
export interface QuantifiedPredicate {
  readonly kind: 'quantified'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly hops: readonly Hop[]
  readonly hop: Hop
  readonly condition: Predicate
}

/** The number of elements that meet the condition (null: of all), compared. */
export interface CountPredicate {
  readonly kind: 'count'
  readonly hops: readonly Hop[]
  readonly hop: Hop
  readonly condition: Predicate | null
  readonly operator: PositiveOperator
  readonly values: readonly PlainValue[]
  readonly negated: boolean
}

export interface JunctionPredicate {
  readonly kind: 'and' | 'or'
  readonly nodes: readonly Predicate[]
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
export type Predicate =
  | ComparePredicate
  | NullPredicate
  | AbsentPredicate
  | QuantifiedPredicate
  | CountPredicate
  | JunctionPredicate
  | NeverPredicate
  | AlwaysPredicate

export interface OrderKey {
  readonly column: Column
  readonly direction: Direction
}

/** One member of a reply's records. Indexes are into the projection's columns. */
export type Member =
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
  /** Equal keys read equal columns. */
  readonly key: string
  readonly columns: readonly Column[]
  readonly members: readonly Member[]
}

export interface GetPlan {
  readonly kind: 'get'
  readonly where: Predicate
  readonly projection: Projection
}

/** What `Prefer: handling` asked for and got, which the reply says; null where nothing was applied. */
export type Preference = 'lenient' | 'strict' | null

export interface PagePlan {
  readonly kind: 'page'
  readonly where: Predicate | null
  readonly order: readonly OrderKey[]
  readonly page: number
  readonly pageSize: number
  readonly projection: Projection
  readonly preference: Preference
}

export interface CountPlan {
  readonly kind: 'count'
  readonly where: Predicate | null
  readonly preference: Preference
}

/** `where` already holds "key greater than the last one seen". */
export interface KeysetPlan {
  /** The key, ascending. */
  readonly order: readonly OrderKey[]
  readonly kind: 'keyset'
  readonly where: Predicate | null
  readonly pageSize: number
  readonly projection: Projection
  readonly preference: Preference
}

export interface CreatePlan {
  readonly kind: 'create'
  readonly changes: Changes
  readonly projection: Projection
  /** The instant of the record's time stamps. */
  readonly instant: Date
}

/** A body that failed validation is a plan still: whether the record exists is asked first. */
export interface UpdatePlan {
  readonly kind: 'update'
  /** The record by its key alone, to read it back by. */
  readonly identity: Predicate
  /** The identity, and every condition under which the record may be written. */
  readonly where: Predicate
  readonly changes: Changes
  readonly invalid: Readonly<Record<string, string[]>> | null
  readonly projection: Projection
  readonly instant: Date
}

export interface DeletePlan {
  readonly kind: 'delete'
  readonly where: Predicate
  /** What marks a record as deleted; null where the row is to go. */
  readonly mark: Changes | null
}

export interface BulkCreatePlan {
  readonly kind: 'bulkCreate'
  readonly records: readonly Changes[]
  readonly projection: Projection
  readonly instant: Date
}

export interface BulkDeletePlan {
  readonly kind: 'bulkDelete'
  readonly where: Predicate
  readonly mark: Changes | null
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

export type { Resource, Value }
