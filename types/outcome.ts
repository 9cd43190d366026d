/** A row as the database gave it: the values of the plan's projection, in the order of its columns. */
export type Row = readonly unknown[]

export type Outcome =
  /** `isWritten` is false where a PATCH had nothing to write. */
  | { readonly kind: 'record'; readonly row: Row; readonly isWritten?: boolean }
  /** `totalCount` is null where the plan wants none. */
  | { readonly kind: 'page'; readonly rows: readonly Row[]; readonly totalCount: number | null; readonly more: boolean }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'keyset'; readonly rows: readonly Row[]; readonly more: boolean }
  | { readonly kind: 'records'; readonly rows: readonly Row[] }
  /** `rows` are by the plan's `report`, and none where it has none. */
  | { readonly kind: 'deleted'; readonly count: number; readonly rows: readonly Row[] }
