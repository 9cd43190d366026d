/** Returns the total number of records, or null if the length of the page does not reveal the total. */
export function deriveTotal(length: number, offset: number, pageSize: number): number | null {
  if (length === pageSize || (length === 0 && offset > 0)) return null
  return offset + length
}
