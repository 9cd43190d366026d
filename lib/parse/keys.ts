import type { Resource } from '../../types/resource.js'
import { invalidQuery } from '../common/problem.js'

/**
 * Parses `keys=1,2,3` into the keys as text, without duplicates; null without the parameter. An empty parameter has no
 * keys. Blanks around a key are ignored. A backslash escapes the next character, as in filter values.
 *
 * @throws Problem `invalid-query` for an empty key, a trailing backslash, and more keys than a list or a page may have
 */
export function readKeys(
  { limits: { listItems }, query: { maxPageSize } }: Resource,
  text: string | undefined,
): readonly string[] | null {
  if (text === undefined) return null
  const items = splitItems(text)
  if (items.length === 1 && items[0] === '') return []
  const empty = items.indexOf('')
  if (empty >= 0) throw invalidQuery('keys', `has an empty key at position ${empty + 1}.`)
  const keys = [...new Set(items)]
  if (keys.length > listItems) throw invalidQuery('keys', `has more keys than the limit of ${listItems} (listItems).`)
  if (keys.length > maxPageSize) {
    throw invalidQuery('keys', `has more keys than the limit of ${maxPageSize} (maxPageSize).`)
  }
  return keys
}

const BLANKS: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n'])

function splitItems(text: string): readonly string[] {
  const items: string[] = []
  let item = ''
  // The length of the item without trailing blanks.
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === ',') {
      items.push(item.slice(0, length))
      item = ''
      length = 0
      continue
    }
    if (BLANKS.has(character)) {
      if (item !== '') item += character
      continue
    }
    if (character === '\\') {
      at += 1
      if (at === text.length) throw invalidQuery('keys', 'ends with a "\\" without a character after it.')
    }
    item += text.charAt(at)
    length = item.length
  }
  return [...items, item.slice(0, length)]
}
