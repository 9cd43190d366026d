import { type ConfigErrorCode, CrudConfigError } from '../common/errors.js'

/** Returns the edit distance of two words: the number of insertions, deletions and substitutions. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** Returns the most similar candidate; undefined if no candidate is similar. */
export function findNearest(name: string, candidates: Iterable<string>): string | undefined {
  const word = name.toLowerCase()
  const ranked = [...candidates]
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const best = ranked[0]
  const most = Math.min(Math.max(2, word.length / 3), word.length - 1)
  return best !== undefined && best.edits <= most ? best.candidate : undefined
}

/** Returns "Did you mean ...?" for a message, or an empty text. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = findNearest(name, candidates)
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`
}

/** Returns a list of the valid values for a message. */
export function listValid(candidates: Iterable<string>): string {
  const all = [...candidates]
  return all.length === 0 ? '' : ` Valid: ${all.join(', ')}.`
}

/** Like `didYouMean`, but without a similar candidate it lists all candidates that start with the name. */
function didYouMeanAny(name: string, candidates: readonly string[]): string {
  const one = didYouMean(name, candidates)
  const family = candidates.filter((candidate) => candidate.toLowerCase().startsWith(name.toLowerCase()))
  if (one !== '' || name.length < 3 || family.length === 0) return one
  return formatQuestion(family)
}

function formatQuestion(names: readonly string[]): string {
  return ` Did you mean ${names.map((each) => `"${each}"`).join(' or ')}?`
}

/** Creates the error for an unknown name. `suggested` has the valid names if `name` is an alternative word. */
export function createUnknownNameError(
  code: ConfigErrorCode,
  what: string,
  name: string,
  candidates: Iterable<string>,
  suggested: readonly string[] = [],
): CrudConfigError {
  const all = [...candidates]
  const hint = suggested.length === 0 ? didYouMeanAny(name, all) : formatQuestion(suggested)
  return new CrudConfigError(code, `${what} "${name}" does not exist.${hint}${listValid(all)}`)
}
