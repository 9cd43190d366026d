/** Values as the text of an array of PostgreSQL. */
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
