import type { Resource } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'
import { isStorableText } from '../common/values.js'

// A quotation mark starts a phrase only at the start of a word and with a closing mark: `5" disc` is two words.
const WORD = /"([^"]*)"|[^ \t\r\n]+/g

/**
 * Parses `search=jan "two words"` into words and phrases, without duplicates; null without words. Only
 * blanks and quotation marks around phrases have a meaning.
 *
 * @throws Problem `invalid-query` for a text that is too long, too many words, and characters that databases cannot
 * store
 */
export function readSearch({ limits }: Resource, text: string | null): readonly string[] | null {
  if (text === null) return null
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
