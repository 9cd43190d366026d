/** The number of all records, where the page's own length tells it. */
export function totalOf(length: number, offset: number, pageSize: number): number | null {
  if (length === pageSize || (length === 0 && offset > 0)) return null
  return offset + length
}
