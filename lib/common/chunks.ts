/** The maximum number of values that one statement looks up. */
export const MAX_LOOKUP_VALUES = 1000

/** Splits a list into chunks of at most `most` elements. `Infinity` returns one chunk. */
export function splitIntoChunks<T>(all: readonly T[], most: number = MAX_LOOKUP_VALUES): readonly (readonly T[])[] {
  if (all.length <= most) return all.length === 0 ? [] : [all]
  return Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most))
}
