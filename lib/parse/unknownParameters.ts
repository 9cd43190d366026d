import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { QuerySettings } from '../../types/settings.js'
import { COMPUTED_HINT } from '../common/hints.js'
import { normalizeName } from '../common/normalizedName.js'
import { problem } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { didYouMean } from '../config/suggest.js'
import { OPERATORS, type OperatorName, operatorInfoOf } from '../language/operators.js'
import { OPTIONAL_PARAMETERS } from '../language/reservedParameters.js'
import type { readHandling } from './prefer.js'

/** The attributes that the caller may not read. Parameters with their names count as unknown. */
export type HiddenFields = Pick<ReadonlySet<string>, 'has'>

/** A parameter's name, and its value as written in the URL. */
export type ParameterPair = readonly [name: string, value: string]

/** The unknown parameters of a request. */
export interface UnknownParameters {
  readonly given: readonly ParameterPair[]
  /** The kind of request: `list` or `record`. */
  readonly requestKind: string
  /** Returns a hint at the parameter that the client probably meant, among the names that the caller may use. */
  readonly hint: (name: string, value: string) => string
}

/** Removes the host's parameters from a list of unknown parameters. */
export function omitHostParameters(
  { query: { unknownParameters } }: Resource,
  given: readonly ParameterPair[],
): readonly ParameterPair[] {
  if (typeof unknownParameters === 'string' || given.length === 0) return given
  const own = createNameTest(unknownParameters)
  return given.filter(([name]) => !own(name))
}

/** Returns a function that tests whether a parameter belongs to the host. */
export function createHostParameterTest({ query: { unknownParameters } }: Resource): (name: string) => boolean {
  return typeof unknownParameters === 'string' ? () => false : createNameTest(unknownParameters)
}

function createNameTest(names: readonly string[]): (name: string) => boolean {
  return (name) => names.some((own) => isNameMatch(own, name))
}

function isNameMatch(own: string, name: string): boolean {
  return own.endsWith('*') ? name.startsWith(own.slice(0, -1)) : name === own
}

type AppliedHandling = ReturnType<typeof readHandling>

/**
 * Returns the applied `Prefer: handling` of a request; null if it has no effect. Every client may request `strict`.
 * `lenient` applies only if the host ignores unknown names.
 *
 * @throws Problem for unknown parameters, unless they are ignored
 */
export function applyHandling(
  { unknownFields, unknownParameters }: QuerySettings,
  unknown: UnknownParameters,
  requested: AppliedHandling,
): AppliedHandling {
  const isIgnored = unknownParameters === 'ignore'
  if (requested === 'strict' || !isIgnored) rejectUnknown(unknown)
  if (requested !== 'lenient') return requested
  return unknownFields === 'ignore' || (isIgnored && unknown.given.length > 0) ? requested : null
}

// A URL may have thousands of unknown names, and some may be very long.
const MAX_REPORTED = 10
const MAX_GUESSED_LENGTH = 50

function rejectUnknown({ given, requestKind, hint }: UnknownParameters): void {
  const texts = new Map<string, string>()
  for (const [name, text] of given) if (texts.size < MAX_REPORTED && !texts.has(name)) texts.set(name, text)
  if (texts.size === 0) return
  const messages = [...texts].map(([name, text]) => {
    const suggestion = name.length > MAX_GUESSED_LENGTH ? '' : hint(name, text)
    return [truncateEcho(name), [`is not a parameter of this ${requestKind}.${suggestion}`]] as const
  })
  const [first, [message = ''] = []] = messages[0] ?? []
  throw problem('unknown-parameter', { errors: Object.fromEntries(messages), detail: `${first} ${message}` })
}

/** Parameter names of other APIs, by normalized name. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pageSize: ['limit', 'perpage', 'take'],
    page: ['offset', 'skip', 'start'],
    sort: ['order', 'orderby'],
    select: ['fields', 'include', 'expand', 'populate', 'with', 'embed'],
    search: ['q', 'query'],
    filter: ['where'],
    keys: ['id', 'ids'],
    group: ['groupby'],
  }).flatMap(([parameter, words]) => words.map((word) => [word, parameter] as const)),
)

/** Operator names of other APIs, as in `level[gte]`. */
const FOREIGN_OPERATORS: ReadonlyMap<string, OperatorName> = new Map<string, OperatorName>([
  ...(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains'] as const).map((name) => [name, name] as const),
  ['neq', 'ne'],
  ['nin', 'notIn'],
  ['like', 'contains'],
  ['startswith', 'startsWith'],
  ['endswith', 'endsWith'],
])

/** Parameter names of other APIs that contain a field and an operator. Without an operator, the comparison is equality. */
const FOREIGN_COMPARISONS: readonly RegExp[] = [
  /^filter\[(?<field>\w+)\](?:\[(?<word>\w+)\])?$/,
  /^(?<field>\w+)\[(?<word>\w+)\]$/,
  /^(?<field>\w+?)__?(?<word>[a-z]+)$/i,
]

interface NamedComparison {
  readonly field: string
  readonly operator: OperatorName | undefined
  readonly operand: string
}

/**
 * Returns a hint at the list parameter that the client probably meant, among the parameters that the caller may use.
 */
export function listHint(
  resource: Resource,
  hidden: HiddenFields,
  valid: readonly string[],
  [name, value]: ParameterPair,
): string {
  const off = disabledOperationOf(resource, name)
  if (off !== null) return ` It needs the operation "${off}", which is disabled.`
  const word = normalizeName(name)
  const attribute = resource.fields.find((field) => field.name === name)
  const spelt = valid.filter((each) => normalizeName(each) === word || each === attribute?.json)
  const clause = suggestClause(resource, hidden, name, value) ?? suggestItemsClause(resource, hidden, name, value)
  if (clause !== null && spelt.length === 0) return ` Did you mean "${clause}"?`
  if (isComputedName(resource, hidden, word)) return COMPUTED_HINT
  if (isKeyName(resource, word)) return ' Use the parameter "keys", such as keys=1,2.'
  const foreign = findForeignParameter(resource, hidden, word)
  const [only = foreign, ...others] = spelt
  if (only !== null && others.length === 0 && valid.includes(only)) return ` Did you mean "${only}"?`
  return didYouMean(name, valid)
}

/** Returns a hint at the parameter of a single record that the client probably meant. */
export function recordHint(name: string): string {
  const valid = ['select']
  return WORDS.get(normalizeName(name)) === 'select' ? ' Did you mean "select"?' : didYouMean(name, valid)
}

/** Returns the disabled operation that a parameter belongs to; null for other parameters. */
function disabledOperationOf({ operations }: Resource, name: string): 'aggregate' | 'export' | null {
  const off = (['aggregate', 'export'] as const).find((each) => OPTIONAL_PARAMETERS[each].includes(name))
  return off === undefined || operations.has(off) ? null : off
}

/** Whether a word is the name of the key, which responses show. */
function isKeyName({ keys }: Resource, word: string): boolean {
  const [key] = keys
  return key !== undefined && keys.length === 1 && key.targets.has('response') && normalizeName(key.json) === word
}

/** Whether a word is the name of a computed field that the caller may read. */
function isComputedName({ computed }: Resource, hidden: HiddenFields, word: string): boolean {
  return computed.some(
    ({ name, json, targets }) => targets.size > 0 && !hidden.has(name) && normalizeName(json) === word,
  )
}

/** Returns the parameter that has this name in other APIs; null if the caller can see a field of that name. */
function findForeignParameter({ fields }: Resource, hidden: HiddenFields, word: string): string | null {
  const isField = ({ name, json, isKey, targets }: Field): boolean =>
    !isKey && !hidden.has(name) && (targets.has('response') || targets.has('list')) && normalizeName(json) === word
  return fields.some(isField) ? null : (WORDS.get(word) ?? null)
}

/**
 * Rewrites `level[gte]=30`, `level_gte=30`, `filter[level]=30`, `level>=30` and similar as comparisons of `filter`. Null
 * for other names, and for fields that the caller cannot filter by.
 */
function suggestClause({ byName }: Resource, hidden: HiddenFields, name: string, value: string): string | null {
  const { field: written = '', operator, operand = '' } = readComparison(name, value) ?? {}
  const field = byName.get(written.toLowerCase())
  if (field === undefined || operator === undefined) return null
  if (!field.filterable || hidden.has(field.name) || !field.operators.has(operator)) return null
  return `filter=${field.json}${operatorInfoOf(operator).token}${truncateValue(operand)}`
}

/** Reads a comparison that a parameter contains. `level>=3` has the name `level>` and the value `3`. */
function readComparison(name: string, value: string): NamedComparison | null {
  const [, own, symbols = '', rest = ''] = /^(\w+)([!<>^$*]+)(.*)$/.exec(name) ?? []
  if (own !== undefined) {
    const token = value === '' ? symbols : `${symbols}=`
    const operator = rest !== '' && value !== '' ? undefined : OPERATORS.find((info) => info.token === token)?.name
    return { field: own, operator, operand: rest + value }
  }
  for (const form of FOREIGN_COMPARISONS) {
    const { field, word } = form.exec(name)?.groups ?? {}
    if (field === undefined) continue
    return { field, operator: word === undefined ? 'eq' : FOREIGN_OPERATORS.get(word.toLowerCase()), operand: value }
  }
  return null
}

/**
 * Rewrites `tags=vip`, `tags[]=vip` and similar as a comparison of `filter`. Null if the caller cannot filter by an
 * array of that name.
 */
function suggestItemsClause({ fields }: Resource, hidden: HiddenFields, name: string, value: string): string | null {
  const word = normalizeName(name.replace(/\[\w*\]$/, ''))
  const field = fields.find(({ json }) => normalizeName(json) === word)
  if (field?.item === undefined || !field.filterable || hidden.has(field.name)) return null
  return `filter=${field.json}.Any=${truncateValue(value)}`
}

/** Returns a short value that needs no escapes; otherwise three dots. */
function truncateValue(value: string): string {
  return /^[\w.:-]{1,50}$/.test(value) ? value : '...'
}
