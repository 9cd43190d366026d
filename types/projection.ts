import type { ComputingField } from './computed.js'
import type { Field, JsonValue } from './field.js'
import type { Column, Hop, OrderKey, Predicate } from './predicate.js'

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
  /** A nested object that is always there. */
  | { readonly kind: 'object'; readonly json: string; readonly members: readonly Member[] }
  /** The records of a collection, an array. The index is into the projection's embeds. */
  | { readonly kind: 'many'; readonly json: string; readonly index: number }
  /**
   * A value that the application computes of the columns `needs`. `place` is its place among the columns in the order in which they
   * were asked for.
   */
  | {
      readonly kind: 'computed'
      readonly json: string
      readonly field: ComputingField
      readonly needs: readonly number[]
      readonly place: number
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
  /** The projection of the full answer, where `Prefer: return=minimal` wants none of it; absent elsewhere. */
  readonly full?: Projection
  /** The collections in the records; none unless told. */
  readonly embeds?: readonly Embed[]
}

/** A collection in records: which of its records, in which order, how many for each owner, and what of them. */
export interface Embed {
  readonly hop: Hop
  /** The index of the column that has the owner's key. */
  readonly owner: number
  readonly where: Predicate | null
  readonly order: readonly OrderKey[]
  readonly limit: number
  readonly projection: Projection
  /** What tells the collection's records apart. */
  readonly identity: readonly Field[]
  /** The row that links each record, where columns, conditions or the order read it. */
  readonly link?: Hop
}
