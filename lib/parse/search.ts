import type { Resource } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'
import { isStorableText } from '../common/values.js'

// A quote opens several words only where a word begins, and where another one closes them: `5" disc` is two words.
const WORD = /"([^"]*)"|[^ \t\r\n]+/g

/**
 * The words of `search=jan "two words"`, each once; null for none. Everything but blanks, and quotes around several words, is
 * text.
 *
 * @throws Problem `invalid-query` for a text that is too long, too many words, and what no text of the database holds
 */
export function readSearch({ limits }: Resource, text: string): readonly string[] | null {
  const { filterLength, searchWords } = limits
  if (text.length > filterLength) {
    throw invalidQuery('search', `is longer than the limit of ${filterLength} characters (filterLength).`)
  }
  if (!isStorableText(text)) throw invalidQuery('search', 'must be text without NUL characters.')
  const words = [...new Set([...text.matchAll(WORD)].map(([word, quoted]) => quoted ?? word))]
  const searched = words.filter((word) => word.trim() !== '')
  if (searched.length > searchWords) {
    throw invalidQuery('search', `has more words than the limit of ${searchWords} (searchWords).`)
  }
  return searched.length === 0 ? null : searched
}
