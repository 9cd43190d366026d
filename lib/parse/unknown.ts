import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { QuerySettings } from '../../types/settings.js'
import { echoed } from '../common/echo.js'
import { folded } from '../common/folded.js'
import { COMPUTED_HINT } from '../common/hints.js'
import { problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'
import { type OperatorName, operatorInfo } from '../language/operators.js'
import { OPTIONAL } from '../language/reserved.js'
import type { handlingOf } from './prefer.js'

/** The attributes that the caller may not read: they are no parameters, just as what does not exist. */
export type Hidden = Pick<ReadonlySet<string>, 'has'>

/** A parameter's name, and its text as it is written in the URL. */
export type Pair = readonly [name: string, value: string]

/** The parameters of a request that nothing here reads. */
export interface Unknown {
  readonly given: readonly Pair[]
  /** Where they are: `list` or `record`. */
  readonly of: string
  /** What was probably meant by one of them, over the names that this caller may use. */
  readonly hint: (name: string, value: string) => string
}

/** The unknown parameters that are not the host's own. */
export function strangers({ query: { unknownParameters } }: Resource, given: readonly Pair[]): readonly Pair[] {
  if (typeof unknownParameters === 'string' || given.length === 0) return given
  const own = ownIn(unknownParameters)
  return given.filter(([name]) => !own(name))
}

/** Whether a parameter is one of the host's own. */
export function hostsOwn({ query: { unknownParameters } }: Resource): (name: string) => boolean {
  return typeof unknownParameters === 'string' ? () => false : ownIn(unknownParameters)
}

function ownIn(names: readonly string[]): (name: string) => boolean {
  return (name) => names.some((own) => isOwn(own, name))
}

function isOwn(own: string, name: string): boolean {
  return own.endsWith('*') ? name.startsWith(own.slice(0, -1)) : name === own
}

type Handling = ReturnType<typeof handlingOf>

/**
 * What becomes of `Prefer: handling` in a request with these parameters; null where it changes nothing. Leniency is for the
 * host to allow; any client may ask for strictness.
 *
 * @throws Problem for unknown parameters, unless the host ignores them
 */
export function appliedHandling(
  { unknownFields, unknownParameters }: QuerySettings,
  unknown: Unknown,
  asked: Handling,
): Handling {
  const isIgnored = unknownParameters === 'ignore'
  if (asked === 'strict' || !isIgnored) refuseUnknown(unknown)
  if (asked !== 'lenient') return asked
  return unknownFields === 'ignore' || (isIgnored && unknown.given.length > 0) ? asked : null
}

// A URL has room for thousands of names, and for very long ones.
const MOST_TOLD = 10
const LONGEST_GUESSED = 50

function refuseUnknown({ given, of, hint }: Unknown): void {
  const texts = new Map<string, string>()
  for (const [name, text] of given) if (texts.size < MOST_TOLD && !texts.has(name)) texts.set(name, text)
  if (texts.size === 0) return
  const messages = [...texts].map(([name, text]) => {
    const meant = name.length > LONGEST_GUESSED ? '' : hint(name, text)
    return [echoed(name), [`is not a parameter of this ${of}.${meant}`]] as const
  })
  const [first, [message = ''] = []] = messages[0] ?? []
  throw problem('unknown-parameter', { errors: Object.fromEntries(messages), detail: `${first} ${message}` })
}

/** What other APIs call the parameters of this one, by folded name. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pageSize: ['limit', 'perpage', 'take'],
    page: ['offset', 'skip'],
    sort: ['order', 'orderby'],
    select: ['fields', 'include', 'expand', 'populate', 'with', 'embed'],
    search: ['q', 'query'],
    filter: ['where'],
    keys: ['id', 'ids'],
    group: ['groupby'],
  }).flatMap(([meant, words]) => words.map((word) => [word, meant] as const)),
)

/** What other APIs call operators, in `level[gte]`. */
const OPERATORS: ReadonlyMap<string, OperatorName> = new Map<string, OperatorName>([
  ...(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains'] as const).map((name) => [name, name] as const),
  ['neq', 'ne'],
  ['nin', 'notIn'],
  ['like', 'contains'],
  ['startswith', 'startsWith'],
  ['endswith', 'endsWith'],
])

/** What was probably meant by a parameter of a list, over those that the caller may use. */
export function listHint(resource: Resource, hidden: Hidden, valid: readonly string[], [name, value]: Pair): string {
  const off = operationOff(resource, name)
  if (off !== null) return ` The operation "${off}" is off.`
  const clause = clauseMeant(resource, hidden, name, value) ?? itemsMeant(resource, hidden, name, value)
  if (clause !== null) return ` Did you mean "${clause}"?`
  const word = folded(name)
  if (isComputedName(resource, hidden, word)) return COMPUTED_HINT
  if (isKeyName(resource, word)) return ' Use keys=, as in keys=1,2.'
  const spelt = valid.filter((each) => folded(each) === word)
  const meant = wordMeant(resource, hidden, word)
  const [only = meant, ...others] = spelt
  if (only !== null && others.length === 0 && valid.includes(only)) return ` Did you mean "${only}"?`
  return didYouMean(name, valid)
}

/** The same of a parameter of one record. */
export function recordHint(name: string): string {
  const valid = ['select']
  return WORDS.get(folded(name)) === 'select' ? ' Did you mean "select"?' : didYouMean(name, valid)
}

/** The operation that a parameter belongs to where it is off; null for any other parameter. */
function operationOff({ operations }: Resource, name: string): 'aggregate' | 'export' | null {
  const off = (['aggregate', 'export'] as const).find((each) => OPTIONAL[each].includes(name))
  return off === undefined || operations.has(off) ? null : off
}

/** Whether a word is the name of the key, which answers show. */
function isKeyName({ keys }: Resource, word: string): boolean {
  const [key] = keys
  return key !== undefined && keys.length === 1 && key.targets.has('response') && folded(key.json) === word
}

/** Whether a word is the name of a computed field that the caller may read. */
function isComputedName({ computed }: Resource, hidden: Hidden, word: string): boolean {
  return computed.some(({ name, json, targets }) => targets.size > 0 && !hidden.has(name) && folded(json) === word)
}

/** The parameter that a word of other APIs stands for; null where the caller sees a field of that name. */
function wordMeant({ fields }: Resource, hidden: Hidden, word: string): string | null {
  const isField = ({ name, json, isKey, targets }: Field): boolean =>
    !isKey && !hidden.has(name) && (targets.has('response') || targets.has('list')) && folded(json) === word
  return fields.some(isField) ? null : (WORDS.get(word) ?? null)
}

/** `level[gte]=30` and `filter[level]=30` as clauses of `filter`; null for anything else, and for fields that the caller cannot filter by. */
function clauseMeant({ byName }: Resource, hidden: Hidden, name: string, value: string): string | null {
  const [, first = '', second = ''] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
  const isFilter = first === 'filter'
  const field = byName.get((isFilter ? second : first).toLowerCase())
  const operator = isFilter ? 'eq' : OPERATORS.get(second.toLowerCase())
  if (field === undefined || operator === undefined) return null
  if (!field.filterable || hidden.has(field.name) || !field.operators.has(operator)) return null
  return `filter=${field.json}${operatorInfo(operator).token}${plainOf(value)}`
}

/** `tags=vip`, `tags[]=vip` and the like as a clause of `filter`; null for what is no array that the caller can filter by. */
function itemsMeant({ fields }: Resource, hidden: Hidden, name: string, value: string): string | null {
  const word = folded(name.replace(/\[\w*\]$/, ''))
  const field = fields.find(({ json }) => folded(json) === word)
  if (field?.item === undefined || !field.filterable || hidden.has(field.name)) return null
  return `filter=${field.json}.Any=${plainOf(value)}`
}

/** A value that needs no escapes, or dots in its place. */
function plainOf(value: string): string {
  return /^[\w.:-]{1,50}$/.test(value) ? value : '...'
}
