/** Normalizes the spelling of a name: lower case, without `_` and `-`. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

/** A name in the query language. */
export const NAME: RegExp = /^[\p{L}_][\p{L}\p{N}_]*$/u
