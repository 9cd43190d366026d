/** Normalizes the spelling of a name: lower case, without `_` and `-`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
