import type { PositiveOperator } from '../lib/language/operators.js'
import type { Field, FilterValue, ItemOf } from './field.js'
import type { Direction } from './query.js'
import type { RelationInfo } from './relation.js'

/** A relation on a path, with the conditions of the caller's view on its records. */
export interface Join {
  readonly relation: RelationInfo
  /** The condition on target records; null if the caller may see all of them. */
  readonly condition: Predicate | null
  /** The condition on rows of the join model; null if the caller may see all of them, or if there is no join model. */
  readonly joinRowCondition: Predicate | null
  /** The fields that identify the target's records; absent if they are not needed. */
  readonly identity?: readonly Field[]
}

/** A field at the end of a path of to-one relations. */
export interface Column {
  readonly joins: readonly Join[]
  readonly field: Field
  /** True if the field or any relation of the path may be null. */
  readonly nullable: boolean
  /**
   * The collection at the end of the path whose records are counted. If it is present, `field` is the relation's count.
   */
  readonly countedJoin?: Join
}

/** A key of a request, parsed for its field's type. */
export type KeyValue = string | number

export type PlainValue = Extract<FilterValue, { kind: 'value' }>['value']

export type PlainValues = readonly PlainValue[]

/** A sort key's value, as the database returns it without loss and accepts it again. */
export type CursorValue = string | number | null

/** A position in an order: the values of the sort keys of a record. */
export interface CursorPosition {
  readonly values: readonly CursorValue[]
  /** Whether the page includes the record at the position. */
  readonly inclusive: boolean
}

/** A comparison of a column with values. `negated` matches exactly the other records, null included. */
export interface ComparePredicate {
  readonly kind: 'compare'
  readonly column: Column
  readonly operator: PositiveOperator
  readonly values: PlainValues
  readonly ignoreCase: boolean
  readonly negated: boolean
  /**
   * Whether values are compared by the database's own equality, as in joins. Absent for values of clients, which are
   * compared exactly, with UUIDs in both spellings.
   */
  readonly asJoined?: true
}

export interface NullPredicate {
  readonly kind: 'null'
  readonly column: Column
  readonly negated: boolean
}

/** The condition that the to-one relation at the end of `joins` has no visible record. */
export interface MissingRelationPredicate {
  readonly kind: 'absent'
  readonly joins: readonly Join[]
  readonly negated: boolean
}

/**
 * The condition that `any`, `all` or `none` of a collection's records meet a condition. Paths in the inner condition
 * start at the record.
 */
export interface QuantifiedPredicate {
  readonly kind: 'quantified'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly joins: readonly Join[]
  readonly join: Join
  readonly condition: Predicate
}

/** Compares the number of records that meet the condition (null: of all records). */
export interface CountPredicate {
  readonly kind: 'count'
  readonly joins: readonly Join[]
  readonly join: Join
  readonly condition: Predicate | null
  readonly operator: PositiveOperator
  readonly values: PlainValues
  readonly negated: boolean
}

/** The condition that `any`, `all` or `none` of an array's items meet a condition, whose columns belong to an item. */
export interface ItemsPredicate {
  readonly kind: 'items'
  readonly quantifier: 'any' | 'all' | 'none'
  readonly joins: readonly Join[]
  /** The array at the end of the path. A value that is not an array has no items. */
  readonly item: ItemOf
  readonly condition: Predicate
}

/** Compares the number of items of an array. */
export interface ItemCountPredicate {
  readonly kind: 'itemCount'
  readonly joins: readonly Join[]
  readonly item: ItemOf
  readonly operator: PositiveOperator
  readonly values: PlainValues
  readonly negated: boolean
}

/** The condition that the join model of a many-to-many links the record to a given record, the parent. */
export interface LinkedPredicate {
  readonly kind: 'linked'
  /** The relation from the parent to the record. */
  readonly relation: RelationInfo
  /** The parent's attribute that the join model refers to, and its value. */
  readonly key: Field
  readonly values: PlainValues
  /** The condition on rows of the join model; null if every row counts. */
  readonly joinRowCondition: Predicate | null
}

/** The condition that the record's fields equal one of several rows of values. */
export interface TuplesPredicate {
  readonly kind: 'tuples'
  readonly fields: readonly Field[]
  /** All values, row after row. */
  readonly values: PlainValues
  /** The condition as an exact comparison, for collations that treat different texts as equal; null if not needed. */
  readonly exact: Predicate | null
}

/** The condition that the record's fields contain every word of a text, by a full-text index of the database. */
export interface FullTextPredicate {
  readonly kind: 'fullText'
  readonly fields: readonly Field[]
  readonly values: PlainValues
}

export interface JunctionPredicate<K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly Predicate[]
}

/**
 * The keyset predicate: rows after a position, compared as ORDER BY does. Collations apply, and null is the least
 * value.
 */
export interface KeysetPredicate {
  readonly kind: 'keyset'
  /** The keys in the directions of the traversal, which may be the reverse of the order. */
  readonly keys: readonly KeysetKey[]
  readonly inclusive: boolean
  /** The values of the keys that are not null. */
  readonly values: PlainValues
}

export interface KeysetKey extends OrderKey {
  /** Whether the key's value at the position is null. */
  readonly isNull: boolean
}

/**
 * A condition whose paths are written as subqueries instead of joins. Statements that lock or write need subqueries,
 * and so do conditions that hosts use in their own statements.
 */
export interface SubqueryPredicate {
  readonly kind: 'apart'
  readonly condition: Predicate
}

/** Matches no record. */
export interface NeverPredicate {
  readonly kind: 'never'
}

/** Matches every record. */
export interface AlwaysPredicate {
  readonly kind: 'always'
}

/** A condition with resolved names and typed values. */
export type Predicate =
  | ComparePredicate
  | NullPredicate
  | MissingRelationPredicate
  | QuantifiedPredicate
  | CountPredicate
  | ItemsPredicate
  | ItemCountPredicate
  | LinkedPredicate
  | TuplesPredicate
  | FullTextPredicate
  | KeysetPredicate
  | JunctionPredicate<'and'>
  | JunctionPredicate<'or'>
  | SubqueryPredicate
  | NeverPredicate
  | AlwaysPredicate

export interface OrderKey {
  readonly column: Column
  readonly direction: Direction
}
