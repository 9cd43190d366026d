import type { CompiledComputedField } from './computed.js'
import type { Field, JsonValue } from './field.js'
import type { Column, Join, OrderKey, Predicate } from './predicate.js'

/** A member of a JSON record. Indexes refer to the projection's columns. */
export type Member =
  /** A constant: the value of a masked field. Null if the column at `presence` is null. */
  | { readonly kind: 'constant'; readonly json: string; readonly value: JsonValue; readonly presence?: number }
  /** The value of a column. `place` is the member's position in `select`. */
  | {
      readonly kind: 'value'
      readonly json: string
      readonly index: number
      readonly field: Field
      readonly place?: number
    }
  /** A nested object; null if the column at `presence` is null. */
  | {
      readonly kind: 'nested'
      readonly json: string
      readonly presence: number
      readonly members: readonly Member[]
    }
  /** A nested object that is never null. */
  | { readonly kind: 'object'; readonly json: string; readonly members: readonly Member[] }
  /** The records of a collection as an array. The index refers to the projection's embeds. */
  | { readonly kind: 'many'; readonly json: string; readonly index: number }
  /**
   * A value that the application computes from the columns `needs`. `place` is the member's position in `select`.
   */
  | {
      readonly kind: 'computed'
      readonly json: string
      readonly field: CompiledComputedField
      readonly needs: readonly number[]
      readonly place: number
    }
  /** A JSON column whose members are added to the record. */
  | { readonly kind: 'flattened'; readonly json: string; readonly index: number; readonly field: Field }

/** The columns to read, and the JSON members to make from them. */
export interface Projection {
  readonly columns: readonly Column[]
  readonly members: readonly Member[]
  /**
   * The indexes of the columns that the caller may read; absent in internal projections. The package reads the other
   * columns for its own use: keys for `Location`, versions, presence of related records.
   */
  readonly readableColumns?: ReadonlySet<number>
  /** The projection of the full reply, if `Prefer: return=minimal` applies; absent otherwise. */
  readonly full?: Projection
  /** The collections in the records; absent without collections. */
  readonly embeds?: readonly Embed[]
  /** The names of masked members, which are constant or left out. Absent in internal projections. */
  readonly masked?: readonly string[]
}

/** A collection in records: its condition, order, limit per parent, and projection. */
export interface Embed {
  readonly join: Join
  /** The index of the column with the parent's key. */
  readonly parentKeyColumn: number
  readonly where: Predicate | null
  readonly order: readonly OrderKey[]
  readonly limit: number
  readonly projection: Projection
  /** The fields that identify the collection's records. */
  readonly identity: readonly Field[]
  /** The row of the join model, if columns, conditions or the order read it. */
  readonly joinRow?: Join
}
