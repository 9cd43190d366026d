import type { CreatePlan, GetPlan, UpdatePlan } from './plan.js'

/**
 * A row of the database: the values of the projection's columns, in order, and after them the embedded collections, one
 * for each of the projection's `embeds`.
 */
export type Row = readonly unknown[]

/** A written record, with its part of the plan. */
export interface WrittenRecord {
  readonly plan: CreatePlan | UpdatePlan
  readonly outcome: Outcome & { readonly kind: 'record' }
}

/** Records that an action returns, with their part of the plan, in the handler's order. */
export interface ActionRecords {
  readonly plan: GetPlan
  readonly rows: readonly Row[]
}

export type Outcome =
  /** `isWritten` is false if a PATCH had no changes. */
  | { readonly kind: 'record'; readonly row: Row; readonly isWritten?: boolean }
  /** `totalCount` is null if the plan does not count. */
  | {
      readonly kind: 'page'
      readonly rows: readonly Row[]
      readonly totalCount: number | null
      readonly hasMore: boolean
    }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'keyset'; readonly rows: readonly Row[]; readonly hasMore: boolean }
  /**
   * The rows in list order. Each row has the values of its columns, followed by the values of the order's keys.
   * `totalCount` is absent if the plan does not count.
   */
  | { readonly kind: 'seek'; readonly rows: readonly Row[]; readonly hasMore: boolean; readonly totalCount?: number }
  /** The first batch has been read already. */
  | { readonly kind: 'export'; readonly batches: AsyncIterable<readonly Row[]> }
  | { readonly kind: 'records'; readonly rows: readonly Row[] }
  /** The parts of a composite write, in order. */
  | { readonly kind: 'parts'; readonly parts: readonly WrittenRecord[] }
  /** The result of an action: the saved record, if any, and the returned records or value. */
  | {
      readonly kind: 'action'
      readonly parts: readonly WrittenRecord[]
      readonly returned: ActionRecords | null
      readonly value: unknown
    }
  /** `rows` have the columns of the plan's `report`. Without a `report` they are empty. */
  | { readonly kind: 'deleted'; readonly count: number; readonly rows: readonly Row[] }
