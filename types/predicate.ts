import type { PositiveOperator } from '../lib/language/operators.js'
import type { Field, FilterValue } from './field.js'
import type { Direction } from './query.js'
import type { RelationInfo } from './relation.js'

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
  /** The fields that tell the records of the target apart; absent where nobody needs them. */
  readonly identity?: readonly Field[]
}

/** A field reached from the root over to-one hops. */
export interface Column<V = PlainValues> {
  readonly hops: readonly Hop<V>[]
  readonly field: Field
  /** True when the field or any hop may be null. */
  readonly nullable: boolean
  /** The collection at the end of the hops whose records are counted; then `field` is the relation's `count`. */
  readonly counted?: Hop<V>
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
export interface ComparePredicate<V = PlainValues> {
  readonly kind: 'compare'
  readonly column: Column<V>
  readonly operator: PositiveOperator
  readonly values: V
  readonly ignoreCase: boolean
  readonly negated: boolean
  /**
   * Whether the values are compared as joins compare columns: by the database's own equality. Absent for values of clients, which
   * are compared exactly, and UUIDs in both of their spellings.
   */
  readonly asJoined?: true
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

/** The record is linked to an owner by the table between the two ends of a many-to-many. */
export interface OwnedPredicate<V = PlainValues> {
  readonly kind: 'owned'
  /** As it leads from the owner. */
  readonly relation: RelationInfo
  /** The owner's attribute that the table's rows hold, and its value. */
  readonly key: Field
  readonly values: V
  /** On the rows that link; null where every one of them counts. */
  readonly guard: Predicate<V> | null
}

/** Fields of the record itself have, together, one of several rows of values. */
export interface TuplesPredicate<V = PlainValues> {
  readonly kind: 'tuples'
  readonly fields: readonly Field[]
  /** Row after row. */
  readonly values: V
  /** The same said exactly, where a collation may take more texts for equal than are; null where it cannot. */
  readonly exact: Predicate<V> | null
}

/** Fields of the record itself have every word of a text, by the database's own index of words. */
export interface MatchPredicate<V = PlainValues> {
  readonly kind: 'match'
  readonly fields: readonly Field[]
  readonly values: V
}

export interface JunctionPredicate<V = PlainValues, K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly Predicate<V>[]
}

/** Behind a place in an order, by the comparisons of that order itself: collations, and nulls as the least of all. */
export interface BeyondPredicate<V = PlainValues> {
  readonly kind: 'beyond'
  /** In the directions in which they are walked. */
  readonly keys: readonly BeyondKey<V>[]
  readonly inclusive: boolean
  /** Those of the keys whose value is not null. */
  readonly values: V
}

export interface BeyondKey<V = PlainValues> extends OrderKey<V> {
  /** Whether the value at the place is null. */
  readonly isNull: boolean
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
  | OwnedPredicate<V>
  | TuplesPredicate<V>
  | MatchPredicate<V>
  | BeyondPredicate<V>
  | JunctionPredicate<V, 'and'>
  | JunctionPredicate<V, 'or'>
  | NeverPredicate
  | AlwaysPredicate

export interface OrderKey<V = PlainValues> {
  readonly column: Column<V>
  readonly direction: Direction
}
