import type { Action } from '../../types/action.js'
import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { invalidQuery, problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'
import { collectionParameterName } from './collectionQueries.js'
import {
  createHostParameterTest,
  type HiddenFields,
  listHint,
  omitHostParameters,
  type ParameterPair,
  recordHint,
  type UnknownParameters,
} from './unknownParameters.js'

/** The parameters of a request. Reserved parameters are listed by name, field parameters in the order of the URL. */
export interface Parameters {
  readonly reserved: ReadonlyMap<string, string>
  readonly fields: readonly (readonly [field: Field, text: string])[]
  readonly unknown: UnknownParameters
}

/**
 * Reads the resource's parameters from the URL. Values are strings, and `+` is a blank. Unknown parameters are
 * collected, so that the host's own can be left out.
 *
 * @throws Problem `invalid-query` for a known parameter that is repeated or is not valid percent-encoded UTF-8
 */
export function readParameters(resource: Resource, url: string, hidden: HiddenFields): Parameters {
  const { given, unknown } = sortParameters(url, resource.limits, (name) => findKnown(resource, name, hidden))
  return createParameters(resource, hidden, given, unknown)
}

/** The parameters of a GET by id: `select`, and the parameters of its collections. */
export interface SelectionParameters {
  readonly given: ReadonlyMap<string, string>
  readonly unknown: UnknownParameters
}

/** Reads the parameters of a GET by id. @throws Problem like `readParameters` */
export function readSelection(resource: Resource, url: string): SelectionParameters {
  const { given, unknown } = sortParameters(url, resource.limits, (name) =>
    name === 'select' ? name : collectionParameterName(name),
  )
  const texts = new Map<string, string>()
  for (const [name, text] of given) {
    if (texts.has(name)) throw invalidQuery(name, 'is given more than once.')
    texts.set(name, text)
  }
  return {
    given: texts,
    unknown: { given: omitHostParameters(resource, unknown), requestKind: 'record', hint: recordHint },
  }
}

/** The parameters of a GET action. */
export interface ActionParameters extends SelectionParameters {
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Reads the parameters of a GET action: its input and, if the action returns records, their selection.
 *
 * @throws Problem like `readParameters`
 */
export function readInput(resource: Resource, action: Action, url: string): ActionParameters {
  const { inputNames, arrayNames, output } = action
  const selects = output === 'record' || output === 'list'
  const selectionNameOf = (name: string): string | null => (name === 'select' ? name : collectionParameterName(name))
  const isSelection = (name: string): boolean =>
    selects && selectionNameOf(name) !== null && inputNames?.has(name) !== true
  const own = createHostParameterTest(resource)
  const isInput = (name: string): boolean => (inputNames === null ? !own(name) : inputNames.has(name))
  const { given, unknown } = sortParameters(url, resource.limits, (name) =>
    isSelection(name) || isInput(name) ? name : null,
  )
  const texts = new Map<string, string>()
  const input = new Map<string, unknown>()
  for (const [name, text] of given) {
    const selected = isSelection(name) ? selectionNameOf(name) : null
    const into = selected === null ? input : texts
    const known = into.get(selected ?? name)
    if (arrayNames.has(name) && selected === null) input.set(name, [...(Array.isArray(known) ? known : []), text])
    else if (known !== undefined) throw invalidQuery(name, 'is given more than once.')
    else if (selected === null) input.set(name, text)
    else texts.set(selected, text)
  }
  const valid = [...(inputNames ?? []), ...(selects ? ['select'] : [])]
  const hint = (name: string): string => didYouMean(name, valid)
  return {
    given: texts,
    unknown: { given: omitHostParameters(resource, unknown), requestKind: 'action', hint },
    // `fromEntries`, because a client may send the name `__proto__`.
    input: Object.fromEntries(input),
  }
}

interface SortedParameters<K> {
  readonly given: readonly (readonly [known: K, text: string])[]
  readonly unknown: readonly ParameterPair[]
}

function sortParameters<K extends KnownParameter>(
  url: string,
  limits: QueryLimits,
  knownAs: (name: string) => K | null,
): SortedParameters<K> {
  const given: [K, string][] = []
  const unknown: ParameterPair[] = []
  for (const [raw, value] of readLimitedPairs(url, limits)) {
    const name = decodeText(raw)
    // A name that cannot be decoded is unknown.
    const known = name === null ? null : knownAs(name)
    if (known === null) {
      unknown.push([name ?? raw, value])
      continue
    }
    const text = decodeText(value)
    if (text === null) throw invalidQuery(parameterNameOf(known), 'is not valid percent-encoded UTF-8.')
    given.push([known, text])
  }
  return { given, unknown }
}

/** Reads a single parameter of a request; null without the parameter. @throws Problem like `readParameters` */
export function readParameter({ limits }: Resource, url: string, parameter: string): string | null {
  const [found, ...more] = readLimitedPairs(url, limits).filter(([name]) => decodeText(name) === parameter)
  if (found === undefined) return null
  if (more.length > 0) throw invalidQuery(parameter, 'is given more than once.')
  const text = decodeText(found[1])
  if (text === null) throw invalidQuery(parameter, 'is not valid percent-encoded UTF-8.')
  return text
}

export function parameterNamesOf(url: string): readonly string[] {
  return readPairs(url).map(([name]) => decodeText(name) ?? name)
}

/** The maximum number of parameters of one request, including the host's own. */
const MAX_PARAMETERS = 10_000

/** Checks the number of parameters. @throws Problem for too many parameters */
export function assertParameterCount(count: number): void {
  if (count <= MAX_PARAMETERS) return
  throw problem('invalid-query', { detail: `The request has more parameters than the limit of ${MAX_PARAMETERS}.` })
}

type QueryLimits = Pick<Limits, 'queryLength'>

/** Checks the length of all decoded parameters together. @throws Problem if the length exceeds the limit */
export function assertQuerySize(pairs: readonly ParameterPair[], { queryLength }: QueryLimits): void {
  const lengths = pairs.map(([name, value]) => name.length + value.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (total <= queryLength) return
  const limit = `longer than the limit of ${queryLength} characters (queryLength).`
  const [longest = ''] = pairs[lengths.findIndex((length) => length > queryLength)] ?? []
  if (longest !== '') throw invalidQuery(longest, `is ${limit}`)
  throw problem('invalid-query', { detail: `The parameters together are ${limit}` })
}

/** Returns the names and values of a URL's query, not decoded. @throws Problem if the query exceeds the limit */
function readLimitedPairs(url: string, limits: QueryLimits): readonly ParameterPair[] {
  const pairs = readPairs(url)
  // Decoding never lengthens a text, so a short URL needs no check.
  if (url.length > limits.queryLength) assertQuerySize(decodePairs(pairs), limits)
  return pairs
}

/** Returns the names and values of a URL's query, decoded where possible. */
export function decodedPairsOf(url: string): readonly ParameterPair[] {
  return decodePairs(readPairs(url))
}

function decodePairs(pairs: readonly ParameterPair[]): readonly ParameterPair[] {
  return pairs.map(([name, value]) => [decodeText(name) ?? name, decodeText(value) ?? value])
}

/** Returns the names and values of a URL's query, not decoded. @throws Problem for too many parameters */
function readPairs(url: string): readonly ParameterPair[] {
  const hash = url.indexOf('#')
  const target = hash < 0 ? url : url.slice(0, hash)
  const start = target.indexOf('?')
  const pairs: ParameterPair[] = []
  let count = 0
  for (let from = start + 1, to = start; start >= 0 && to < target.length; from = to + 1) {
    assertParameterCount(++count)
    const next = target.indexOf('&', from)
    to = next < 0 ? target.length : next
    if (to === from) continue
    const part = target.slice(from, to)
    const equals = part.indexOf('=')
    pairs.push(equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)])
  }
  return pairs
}

/** Reads parameters like `readParameters`, from decoded names and values. */
export function gatherParameters(
  resource: Resource,
  pairs: readonly ParameterPair[],
  hidden: HiddenFields,
): Parameters {
  assertParameterCount(pairs.length)
  assertQuerySize(pairs, resource.limits)
  const unknown: ParameterPair[] = []
  const given = pairs.flatMap(([name, text]): GivenParameter[] => {
    const known = findKnown(resource, name, hidden)
    if (known === null) unknown.push([name, text])
    return known === null ? [] : [[known, text]]
  })
  return createParameters(resource, hidden, given, unknown)
}

/** A known parameter: the name of a reserved parameter, or a field. */
type KnownParameter = string | Field
type GivenParameter = readonly [known: KnownParameter, text: string]

function createParameters(
  resource: Resource,
  hidden: HiddenFields,
  given: readonly GivenParameter[],
  others: readonly ParameterPair[],
): Parameters {
  const reserved = new Map<string, string>()
  const fields = new Map<Field, string>()
  for (const [known, text] of given) {
    const isRepeated = typeof known === 'string' ? reserved.has(known) : fields.has(known)
    if (isRepeated) throw invalidQuery(parameterNameOf(known), 'is given more than once.')
    if (typeof known === 'string') reserved.set(known, text)
    else fields.set(known, text)
  }
  // Parameters without an effect on this resource are unknown.
  const unaccepted = [...others]
  for (const each of reserved) if (!hasEffect(resource, each[0])) unaccepted.push(each)
  const unknown: UnknownParameters = {
    given: omitHostParameters(resource, unaccepted),
    requestKind: 'list',
    hint: (...pair) => listHint(resource, hidden, validNamesOf(resource, hidden), pair),
  }
  return { reserved, fields: [...fields], unknown }
}

/** Whether one of the package's parameters has an effect on this resource. */
function hasEffect({ softDeletes, keyset, query: { sortable } }: Resource, name: string): boolean {
  if (name === 'includeDeleted') return softDeletes
  if (name === 'cursor') return keyset
  // Lists do not use `by`. Upserts read `by` with `readParameter`.
  if (name === 'by') return false
  return sortable || !name.startsWith('sort')
}

function validNamesOf(resource: Resource, hidden: HiddenFields): readonly string[] {
  const fields = [...resource.parameters.values()].filter(({ name }) => !hidden.has(name))
  return [...[...resource.reserved].filter((name) => hasEffect(resource, name)), ...fields.map(({ json }) => json)]
}

function findKnown({ parameters, reserved }: Resource, name: string, hidden: HiddenFields): KnownParameter | null {
  if (reserved.has(name)) return name
  const shaping = collectionParameterName(name)
  if (shaping !== null) return shaping
  const field = parameters.get(name.toLowerCase())
  return field === undefined || hidden.has(field.name) ? null : field
}

function parameterNameOf(known: KnownParameter): string {
  return typeof known === 'string' ? known : known.json
}

function decodeText(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return null
  }
}
