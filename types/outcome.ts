/** A row as the database gave it: the values of the plan's projection, in the order of its columns. */
export type Row = readonly unknown[]

export type Outcome =
  | { readonly kind: 'record'; readonly row: Row }
  | { readonly kind: 'page'; readonly rows: readonly Row[]; readonly totalCount: number }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'keyset'; readonly rows: readonly Row[]; readonly more: boolean }
  | { readonly kind: 'records'; readonly rows: readonly Row[] }
  | { readonly kind: 'deleted'; readonly count: number }
