import type { Check } from '../../types/check.js'

/** An attribute's name as JSON has it: `first_name`, `FIRST_NAME`, `FirstName` and `firstName` are all `firstName`. */
export function camelCase(name: string): string {
  // Most names are spelt so already, and the patterns below are a part of what mounting costs.
  if (/^[a-z][A-Za-z0-9]*$/.test(name)) return name
  const spelt = name === name.toUpperCase() ? name.toLowerCase() : name
  const joined = spelt.replace(/(?<=[^_\-\s])[_\-\s]+(.)/gu, (_, letter: string) => letter.toUpperCase())
  // A leading run of capitals is one word, and its last letter begins the next one: URLPath, urlPath.
  return joined.replace(/^\p{Lu}+(?=$|\p{Lu}\p{Ll}|[^\p{Lu}\p{Ll}])|^\p{Lu}/u, (run) => run.toLowerCase())
}

/** A name in the words of a path: `publishNow` is `publish-now`. */
export function kebabCase(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

/** A model's name as types in documents are spelt: `order_line` and `orderLine` are `OrderLine`. */
export function typeName(name: string): string {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** The words behind collections in paths. */
const WORDS: ReadonlySet<string> = new Set(['any', 'all', 'none', 'count'])

/** A name of the query language. */
export const NAME: RegExp = /^[\p{L}_][\p{L}\p{N}_]*$/u

/** A name that the host may choose. */
export const isMemberName: Check = (value) =>
  typeof value === 'string' && NAME.test(value) && !WORDS.has(value.toLowerCase()) && value !== '__proto__'

export const MEMBER_NAME =
  'a name of letters, digits and "_" that begins with no digit, and none of any, all, none, count and __proto__'
