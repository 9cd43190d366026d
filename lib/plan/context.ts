import type { Field } from '../../types/field.js'
import type { ModelAccess, Resource } from '../../types/resource.js'
import type { View } from '../../types/view.js'
import { isComputedField } from '../common/columns.js'
import { COMPUTED_HINT } from '../common/hints.js'
import { NAME, normalizeName } from '../common/normalizedName.js'
import { type Problem, problem } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { findNearest } from '../config/suggest.js'
import { createRoot, type Destination, fieldsOfRoot, type Root } from './path.js'
import { QueryCost } from './queryCost.js'

/** Data for planning the query of one request. */
export interface Context {
  readonly root: Root
  readonly unknownFields: 'reject' | 'ignore'
  readonly view: View
  /** Query cost of one statement. */
  readonly queryCost: QueryCost
  /** Prefix of parameter names for a collection in `select`. Empty for the list itself. */
  readonly prefix: string
}

export function createContext(resource: Resource, unknownFields: Context['unknownFields'], view: View): Context {
  return {
    root: createRoot(resource, view.joinRow),
    unknownFields,
    view,
    queryCost: new QueryCost(resource.limits),
    prefix: '',
  }
}

/** Creates the context of a collection's own statement, whose paths start at the collection's records. */
export function createElementContext(context: Context, element: Root, prefix: string): Context {
  return { ...context, root: { ...element, collections: 0 }, queryCost: context.queryCost.startStatement(), prefix }
}

// Maximum length of an unknown name for which a suggestion is computed, because names in a URL can be very long.
export const MAX_GUESSED_LENGTH = 50

/** Whether a field may be suggested instead of an unknown name. */
type IsUsable = (field: Field, access: ModelAccess | null) => boolean

/** Whether paths may end with a word about an array's items, such as `Count`. Only filters have these words. */
interface SuggestOptions {
  readonly hasItemWords?: boolean
}

/**
 * Returns a suggestion for the unknown last name of a path. `written` contains the names as the client wrote them.
 * Suggests only fields that the caller may use, and nothing behind relations that the caller may not follow.
 */
export function suggestField(
  context: Context,
  { lastRoot }: Pick<Destination, 'lastRoot'>,
  written: readonly string[],
  isUsable: IsUsable,
  options: SuggestOptions = {},
): string {
  const { view } = context
  const name = written.at(-1) ?? ''
  if (lastRoot === null) return suggestMember(context, written, isUsable, options)
  if (name.length > MAX_GUESSED_LENGTH) return ''
  const usable = fieldsOfRoot(lastRoot).filter(
    (field) => NAME.test(field.json) && isUsable(field, lastRoot.access) && view.readable(field, lastRoot.access),
  )
  const similar = findSimilarField(name, usable)
  return similar === undefined
    ? hintForCount(written)
    : ` Did you mean "${[...written.slice(0, -1), similar].join('.')}"?`
}

/**
 * Returns a hint for counts, which responses name `playersCount` and queries `players.Count`. The hint does not depend
 * on existing relations.
 */
function hintForCount(written: readonly string[]): string {
  const [, collection] = /^(.+[a-z0-9])Count$/.exec(written.at(-1) ?? '') ?? []
  if (collection === undefined) return ''
  return ` For the number of records use "${[...written.slice(0, -1), collection, 'Count'].join('.')}".`
}

const QUANTIFIER = /^(?:any|all|none|count)$/i

/**
 * Returns a suggestion for a path that begins with a JSON attribute of the record itself, from the declared members of
 * the attribute.
 */
function suggestMember(
  { root, view }: Context,
  [name = '', ...below]: readonly string[],
  isUsable: IsUsable,
  { hasItemWords = false }: SuggestOptions,
): string {
  const field = root.access === null ? root.resource.byName.get(name.toLowerCase()) : undefined
  if (field?.members === undefined || !view.readable(field, null)) return ''
  const word = hasItemWords && QUANTIFIER.test(below.at(-1) ?? '') ? below.slice(-1) : []
  const path = below.slice(0, below.length - word.length).join('.')
  if (path.length > MAX_GUESSED_LENGTH) return ''
  const usable = [...field.members.values()].filter(
    (member) => isUsable(member, null) && (word.length === 0 || member.item !== undefined),
  )
  const similar = findNearest(
    path,
    usable.map(({ derived }) => (derived?.kind === 'member' ? derived.path.join('.') : '')),
  )
  return similar === undefined ? '' : ` Did you mean "${[name, similar, ...word].join('.')}"?`
}

/**
 * Returns the reason why a query cannot use a computed field. Returns an empty text for other paths, and for fields
 * that the caller may not read.
 */
export function explainComputedField({ view }: Context, to: Destination): string {
  if (to.kind !== 'field' || !isComputedField(to.field) || to.field.targets.size === 0) return ''
  return view.readable(to.field, to.access) ? COMPUTED_HINT : ''
}

/**
 * Returns the name of the field whose attribute name or other spelling was written, otherwise the nearest field name.
 */
function findSimilarField(name: string, fields: readonly Field[]): string | undefined {
  const word = normalizeName(name)
  const [only, ...others] = fields.filter((field) => field.name === name || normalizeName(field.json) === word)
  if (only !== undefined && others.length === 0) return only.json
  return findNearest(
    name,
    fields.map(({ json }) => json),
  )
}

/** Name of the query parameter to which an error is attributed. */
export type Parameter = string

/**
 * Creates one error for unknown fields and for fields that this caller may not read, so that the error does not reveal
 * fields.
 */
export function createUnknownFieldProblem(parameter: Parameter, name: string, offset: number, hint = ''): Problem {
  const message = `Unknown field "${truncateEcho(name)}" at position ${offset}.${hint}`
  const parameterName = truncateEcho(parameter)
  return problem('unknown-field', { errors: { [parameterName]: [message] }, detail: `${parameterName}: ${message}` })
}
