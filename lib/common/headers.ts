type Headers = Readonly<Record<string, string>>

/** Headers of several origins as one reply's: what `Vary` names adds up, of the others the last stands. */
export function mergedHeaders(all: readonly Headers[]): Headers {
  const [first, ...others] = all
  if (first === undefined || others.length === 0) return first ?? NONE
  const merged: Record<string, string> = { ...first }
  for (const [name, value] of others.flatMap((headers) => Object.entries(headers))) {
    const known = merged[name]
    merged[name] = name === 'Vary' && known !== undefined ? varying(known, value) : value
  }
  return merged
}

const NONE: Headers = Object.freeze({})

function varying(...values: readonly string[]): string {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim())
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()].join(', ')
}
