// Patterns for whole numbers as text, for what JSON numbers do not hold.

/** A pattern for the canonical digits of the whole numbers from `low` to `high`, both from zero. */
export function digitsBetween(low: bigint, high: bigint): string {
  const alternatives: string[] = []
  for (let from = low; from <= high; ) {
    const last = 10n ** BigInt(from.toString().length) - 1n
    const to = last < high ? last : high
    alternatives.push(...sameLength(from.toString(), to.toString()))
    from = to + 1n
  }
  return alternatives.join('|')
}

/** For digits of one length. */
function sameLength(low: string, high: string): readonly string[] {
  const [first = '', last = ''] = [low.charAt(0), high.charAt(0)]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const rest = low.length - 1
  if (rest === 0) return [oneOf(first, last)]
  const [zeros, nines] = ['0'.repeat(rest), '9'.repeat(rest)]
  if (lowRest === zeros && highRest === nines) return [oneOf(first, last) + any(rest)]
  if (first === last) return prefixed(first, sameLength(lowRest, highRest))
  const from = lowRest === zeros ? first : next(first, 1)
  const to = highRest === nines ? last : next(last, -1)
  return [
    ...(lowRest === zeros ? [] : prefixed(first, sameLength(lowRest, nines))),
    ...(from <= to ? [oneOf(from, to) + any(rest)] : []),
    ...(highRest === nines ? [] : prefixed(last, sameLength(zeros, highRest))),
  ]
}

function prefixed(digit: string, alternatives: readonly string[]): readonly string[] {
  const [only = ''] = alternatives
  return [digit + (alternatives.length === 1 ? only : `(?:${alternatives.join('|')})`)]
}

function next(digit: string, by: 1 | -1): string {
  return String(Number(digit) + by)
}

function oneOf(from: string, to: string): string {
  return from === to ? from : `[${from}-${to}]`
}

function any(count: number): string {
  return count === 1 ? '[0-9]' : `[0-9]{${count}}`
}
