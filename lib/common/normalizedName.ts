/** A name in normalized spelling: lower case, without `_` and `-`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
