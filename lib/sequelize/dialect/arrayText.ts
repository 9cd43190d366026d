/** Text of a PostgreSQL array. */
export function arrayText(values: readonly unknown[]): string {
  return `{${values.map(itemText).join(',')}}`
}

function itemText(value: unknown): string {
  const text = Buffer.isBuffer(value)
    ? `\\x${value.toString('hex')}`
    : value instanceof Date
      ? value.toISOString()
      : String(value)
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
