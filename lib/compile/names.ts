import type { Model, ModelStatic } from 'sequelize'
import type { Check } from '../../types/check.js'
import type { CrudOptions } from '../../types/options.js'
import type { Resource } from '../../types/resource.js'
import { NAME } from '../common/normalizedName.js'

/**
 * Returns the JSON name of an attribute: `first_name`, `FIRST_NAME`, `FirstName` and `firstName` all become
 * `firstName`.
 */
export function camelCase(name: string): string {
  // A shortcut for the form of most names, because the patterns below would slow mounting.
  if (/^[a-z][A-Za-z0-9]*$/.test(name)) return name
  const spelt = name === name.toUpperCase() ? name.toLowerCase() : name
  const joined = spelt.replace(/(?<=[^_\-\s])[_\-\s]+(.)/gu, (_, letter: string) => letter.toUpperCase())
  // A leading run of capitals is one word, except for its last letter, which starts the next word: URLPath becomes
  // urlPath.
  return joined.replace(/^\p{Lu}+(?=$|\p{Lu}\p{Ll}|[^\p{Lu}\p{Ll}])|^\p{Lu}/u, (run) => run.toLowerCase())
}

/** Converts a name to a path segment: `publishNow` becomes `publish-now`. */
export function kebabCase(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

/** Converts a model's name to a type name in documents: `order_line` and `orderLine` become `OrderLine`. */
export function typeName(name: string): string {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** The words that follow a collection in a path, so that no member can have them as names. */
const WORDS: ReadonlySet<string> = new Set(['any', 'all', 'none', 'count'])

/** Accepts the names that the host may choose for a member. */
export const isMemberName: Check = (value) =>
  typeof value === 'string' && NAME.test(value) && !WORDS.has(value.toLowerCase()) && value !== '__proto__'

export const MEMBER_NAME =
  'a name of letters, digits and "_" that does not begin with a digit, and is not any, all, none, count or __proto__'

/** Returns the type names of a resource in documents. */
export function typeNamesOf({ name }: ModelStatic<Model>, { names }: CrudOptions): Resource['names'] {
  const response = names?.response ?? typeName(name)
  return Object.freeze({
    response,
    create: names?.create ?? `${response}Create`,
    update: names?.update ?? `${response}Update`,
    list: names?.list ?? `${response}ListItem`,
    query: names?.query ?? `${response}Query`,
  })
}
