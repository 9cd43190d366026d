import type { CreatePlan, GetPlan, UpdatePlan } from './plan.js'

/**
 * A row as the database gave it: the values of the plan's projection, in the order of its columns, and at its end an
 * `Embedded` for each of its embeds.
 */
export type Row = readonly unknown[]

/** A record that a write wrote, with its part of the plan. */
export interface Part {
  readonly plan: CreatePlan | UpdatePlan
  readonly outcome: Outcome & { readonly kind: 'record' }
}

/** Records that an action answers, by their part of the plan, in the order in which its handler has returned them. */
export interface Shown {
  readonly plan: GetPlan
  readonly rows: readonly Row[]
}

export type Outcome =
  /** `isWritten` is false where a PATCH had nothing to write. */
  | { readonly kind: 'record'; readonly row: Row; readonly isWritten?: boolean }
  /** `totalCount` is null where the plan wants none. */
  | { readonly kind: 'page'; readonly rows: readonly Row[]; readonly totalCount: number | null; readonly more: boolean }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'keyset'; readonly rows: readonly Row[]; readonly more: boolean }
  /** In the order of the list. Behind the columns each row has the values of the order's keys. `totalCount` is absent where the plan wants none. */
  | { readonly kind: 'seek'; readonly rows: readonly Row[]; readonly more: boolean; readonly totalCount?: number }
  /** The first of them is read already. */
  | { readonly kind: 'export'; readonly batches: AsyncIterable<readonly Row[]> }
  | { readonly kind: 'records'; readonly rows: readonly Row[] }
  /** Of a write that is made of others, in their order. */
  | { readonly kind: 'parts'; readonly parts: readonly Part[] }
  /** Of an action: the record that it saved, if any, and the records, or the value, that are answered. */
  | { readonly kind: 'acted'; readonly parts: readonly Part[]; readonly shown: Shown | null; readonly value: unknown }
  /** `rows` are by the plan's `report`, and none where it has none. */
  | { readonly kind: 'deleted'; readonly count: number; readonly rows: readonly Row[] }
