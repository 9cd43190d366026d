/** How many values one statement looks for. */
export const IN_ONE_STATEMENT = 1000

/** Parts of a list, in its order, of so many at the most; `Infinity` for one part. */
export function chunksOf<T>(all: readonly T[], most: number = IN_ONE_STATEMENT): readonly (readonly T[])[] {
  if (all.length <= most) return all.length === 0 ? [] : [all]
  return Array.from({ length: Math.ceil(all.length / most) }, (_, at) => all.slice(at * most, (at + 1) * most))
}
