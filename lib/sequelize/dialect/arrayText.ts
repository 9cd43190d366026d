/** Formats values as the text of a PostgreSQL array. */
export function formatArray(values: readonly unknown[]): string {
  return `{${values.map(formatItem).join(',')}}`
}

function formatItem(value: unknown): string {
  const text = Buffer.isBuffer(value)
    ? `\\x${value.toString('hex')}`
    : value instanceof Date
      ? value.toISOString()
      : String(value)
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
