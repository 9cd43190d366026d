import type { PositiveOperator } from '../lib/language/operators.js'
import type { Field, FilterValue, ItemOf } from './field.js'
import type { Direction } from './query.js'
import type { RelationInfo } from './relation.js'

/** A relation crossed by a path, with the conditions that the caller's view puts on the records that are met. */
export interface Hop {
  readonly relation: RelationInfo
  /** On those of the target; null where every one may be met. */
  readonly guard: Predicate | null
  /** On the rows that link a many-to-many; null where every one of them may be met, or there are none. */
  readonly linkGuard: Predicate | null
  /** The fields that tell the records of the target apart; absent where nobody needs them. */
  readonly identity?: readonly Field[]
}

/** A field reached from the root over to-one hops. */
export interface Column {
  readonly hops: readonly Hop[]
  readonly field: Field
  /** True when the field or any hop may be null. */
  readonly nullable: boolean
  /** The collection at the end of the hops whose records are counted; then `field` is the relation's `count`. */
  readonly counted?: Hop
}

/** A key in a request, read for its field's type. */
export type KeyValue = string | number

export type PlainValue = Extract<FilterValue, { kind: 'value' }>['value']

export type PlainValues = readonly PlainValue[]

/** The value of one order key of a record, as its database gives it without loss and takes it back. */
export type BookmarkValue = string | number | null

/** Where a walk through an order stands: at a record, by the values of the order's keys. */
export interface Bookmark {
  readonly values: readonly BookmarkValue[]
  /** Whether what is read from here begins with the record itself. */
  readonly inclusive: boolean
}

/** `negated` is the exact complement: it is met where the field is null. */
export interface ComparePredicate {
  readonly kind: 'compare'
  readonly column: Column
  readonly operator: PositiveOperator
  readonly values: PlainValues
  readonly ignoreCase: boolean
  readonly negated: boolean
  /**
   * Whether the values are compared as joins compare columns: by the database's own equality. Absent for values of clients, which
   * are compared exactly, and UUIDs in both of their spellings.
   */
  readonly asJoined?: true
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
  readonly values: PlainValues
  readonly negated: boolean
}

/** `any`, `all` or `none` of the items of an array meet the condition, whose columns are those of an item. */
export interface ItemsPredicate {
  readonly kind: 'items'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly hops: readonly Hop[]
  /** The items at the end of the hops. What is no array has none. */
  readonly item: ItemOf
  readonly condition: Predicate
}

/** The number of items of an array, compared. */
export interface ItemCountPredicate {
  readonly kind: 'itemCount'
  readonly hops: readonly Hop[]
  readonly item: ItemOf
  readonly operator: PositiveOperator
  readonly values: PlainValues
  readonly negated: boolean
}

/** The record is linked to an owner by the table between the two ends of a many-to-many. */
export interface OwnedPredicate {
  readonly kind: 'owned'
  /** As it leads from the owner. */
  readonly relation: RelationInfo
  /** The owner's attribute that the table's rows hold, and its value. */
  readonly key: Field
  readonly values: PlainValues
  /** On the rows that link; null where every one of them counts. */
  readonly guard: Predicate | null
}

/** Fields of the record itself have, together, one of several rows of values. */
export interface TuplesPredicate {
  readonly kind: 'tuples'
  readonly fields: readonly Field[]
  /** Row after row. */
  readonly values: PlainValues
  /** The same said exactly, where a collation may take more texts for equal than are; null where it cannot. */
  readonly exact: Predicate | null
}

/** Fields of the record itself have every word of a text, by the database's own index of words. */
export interface MatchPredicate {
  readonly kind: 'match'
  readonly fields: readonly Field[]
  readonly values: PlainValues
}

export interface JunctionPredicate<K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly Predicate[]
}

/** Behind a place in an order, by the comparisons of that order itself: collations, and nulls as the least of all. */
export interface BeyondPredicate {
  readonly kind: 'beyond'
  /** In the directions in which they are walked. */
  readonly keys: readonly BeyondKey[]
  readonly inclusive: boolean
  /** Those of the keys whose value is not null. */
  readonly values: PlainValues
}

export interface BeyondKey extends OrderKey {
  /** Whether the value at the place is null. */
  readonly isNull: boolean
}

/**
 * A condition that joins no table of its statement: its paths are subqueries. So it may be in statements that lock or write, and in
 * those of hosts, who take the condition without the joins.
 */
export interface ApartPredicate {
  readonly kind: 'apart'
  readonly condition: Predicate
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
  | ItemsPredicate
  | ItemCountPredicate
  | OwnedPredicate
  | TuplesPredicate
  | MatchPredicate
  | BeyondPredicate
  | JunctionPredicate<'and'>
  | JunctionPredicate<'or'>
  | ApartPredicate
  | NeverPredicate
  | AlwaysPredicate

export interface OrderKey {
  readonly column: Column
  readonly direction: Direction
}
