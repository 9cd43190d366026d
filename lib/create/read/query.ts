/** Runs a statement of the catalogue, and gives its rows. */
export type Query = (sql: string, bind?: readonly unknown[]) => Promise<readonly Row[]>

export type Row = Readonly<Record<string, unknown>>

export function text(row: Row, name: string): string {
  return textOf(row[name]) ?? ''
}

/** Null for null, and for an empty text, which MySQL has in its place. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value)
}

export function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Rows by the value of a member, in their order. */
export function grouped(rows: readonly Row[], name: string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = text(row, name)
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}
