/** Runs a query on the database's catalogue and returns its rows. */
export type Query = (sql: string, bind?: readonly unknown[]) => Promise<readonly Row[]>

export type Row = Readonly<Record<string, unknown>>

export function readTextColumn(row: Row, name: string): string {
  return toText(row[name]) ?? ''
}

/**
 * Converts a value of a row to text. Returns null for an empty text, because MySQL reports missing values as empty
 * texts.
 */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value)
}

export function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Groups rows by the value of a column. The order of rows is kept. */
export function groupBy(rows: readonly Row[], name: string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = readTextColumn(row, name)
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return groups
}
