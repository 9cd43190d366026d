import type { Action } from '../../types/action.js'
import type { Field } from '../../types/field.js'
import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import { invalidQuery, problem } from '../common/problem.js'
import { didYouMean } from '../config/suggest.js'
import { shapingName } from './shapes.js'
import { type Hidden, hostsOwn, listHint, type Pair, recordHint, strangers, type Unknown } from './unknown.js'

/** The parameters of a request: reserved ones by name, field parameters in the order of the URL. */
export interface Parameters {
  readonly reserved: ReadonlyMap<string, string>
  readonly fields: readonly (readonly [field: Field, text: string])[]
  readonly unknown: Unknown
}

/**
 * Reads the resource's parameters from the URL. Values are strings; `+` is a blank. Other parameters are left to the
 * host.
 *
 * @throws Problem `invalid-query` for a known parameter that is repeated or is not valid percent-encoded UTF-8
 */
export function readParameters(resource: Resource, url: string, hidden: Hidden): Parameters {
  const { given, unknown } = givenIn(url, resource.limits, (name) => knownAs(resource, name, hidden))
  return gathered(resource, hidden, given, unknown)
}

/** The parameters of a GET by id: `select`, and those of its collections. */
export interface Selection {
  readonly given: ReadonlyMap<string, string>
  readonly unknown: Unknown
}

/** @throws Problem like `readParameters` */
export function readSelection(resource: Resource, url: string): Selection {
  const { given, unknown } = givenIn(url, resource.limits, (name) => (name === 'select' ? name : shapingName(name)))
  const texts = new Map<string, string>()
  for (const [name, text] of given) {
    if (texts.has(name)) throw invalidQuery(name, 'is given more than once.')
    texts.set(name, text)
  }
  return { given: texts, unknown: { given: strangers(resource, unknown), of: 'record', hint: recordHint } }
}

/** The parameters of a GET action. */
export interface ActionParameters extends Selection {
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Reads the parameters of a GET action: its input and, if it returns records, their selection.
 *
 * @throws Problem like `readParameters`
 */
export function readInput(resource: Resource, action: Action, url: string): ActionParameters {
  const { names, lists, output } = action
  const selects = output === 'record' || output === 'list'
  const ofSelection = (name: string): string | null => (name === 'select' ? name : shapingName(name))
  const isSelected = (name: string): boolean => selects && ofSelection(name) !== null && names?.has(name) !== true
  const own = hostsOwn(resource)
  const isInput = (name: string): boolean => (names === null ? !own(name) : names.has(name))
  const { given, unknown } = givenIn(url, resource.limits, (name) => (isSelected(name) || isInput(name) ? name : null))
  const texts = new Map<string, string>()
  const input = new Map<string, unknown>()
  for (const [name, text] of given) {
    const selected = isSelected(name) ? ofSelection(name) : null
    const into = selected === null ? input : texts
    const known = into.get(selected ?? name)
    if (lists.has(name) && selected === null) input.set(name, [...(Array.isArray(known) ? known : []), text])
    else if (known !== undefined) throw invalidQuery(name, 'is given more than once.')
    else if (selected === null) input.set(name, text)
    else texts.set(selected, text)
  }
  const valid = [...(names ?? []), ...(selects ? ['select'] : [])]
  const hint = (name: string): string => didYouMean(name, valid)
  return {
    given: texts,
    unknown: { given: strangers(resource, unknown), of: 'action', hint },
    // Names are arbitrary and may be `__proto__`.
    input: Object.fromEntries(input),
  }
}

interface FoundIn<K> {
  readonly given: readonly (readonly [known: K, text: string])[]
  readonly unknown: readonly Pair[]
}

function givenIn<K extends Known>(url: string, limits: QueryLimits, knownAs: (name: string) => K | null): FoundIn<K> {
  const given: [K, string][] = []
  const unknown: Pair[] = []
  for (const [raw, value] of sizedPairs(url, limits)) {
    const name = decoded(raw)
    // A name that cannot be decoded is unknown.
    const known = name === null ? null : knownAs(name)
    if (known === null) {
      unknown.push([name ?? raw, value])
      continue
    }
    const text = decoded(value)
    if (text === null) throw invalidQuery(toldAs(known), 'is not valid percent-encoded UTF-8.')
    given.push([known, text])
  }
  return { given, unknown }
}

/** Reads the only parameter of a request; null without it. @throws Problem like `readParameters` */
export function readParameter({ limits }: Resource, url: string, wanted: string): string | null {
  const [found, ...more] = sizedPairs(url, limits).filter(([name]) => decoded(name) === wanted)
  if (found === undefined) return null
  if (more.length > 0) throw invalidQuery(wanted, 'is given more than once.')
  const text = decoded(found[1])
  if (text === null) throw invalidQuery(wanted, 'is not valid percent-encoded UTF-8.')
  return text
}

export function namesIn(url: string): readonly string[] {
  return pairsOf(url).map(([name]) => decoded(name) ?? name)
}

/** The most parameters of one request, including the host's own. */
const MOST_PARAMETERS = 10_000

/** @throws Problem for too many parameters */
export function assertParameterCount(count: number): void {
  if (count <= MOST_PARAMETERS) return
  throw problem('invalid-query', { detail: `The request has more parameters than the limit of ${MOST_PARAMETERS}.` })
}

type QueryLimits = Pick<Limits, 'queryLength'>

/** @throws Problem if decoded parameters together exceed the limit */
export function assertQuerySize(pairs: readonly Pair[], { queryLength }: QueryLimits): void {
  const lengths = pairs.map(([name, value]) => name.length + value.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (total <= queryLength) return
  const limit = `longer than the limit of ${queryLength} characters (queryLength).`
  const [longest = ''] = pairs[lengths.findIndex((length) => length > queryLength)] ?? []
  if (longest !== '') throw invalidQuery(longest, `is ${limit}`)
  throw problem('invalid-query', { detail: `The parameters together are ${limit}` })
}

/** The names and values of a URL's query, not decoded. @throws Problem if the query exceeds the limit */
function sizedPairs(url: string, limits: QueryLimits): readonly Pair[] {
  const pairs = pairsOf(url)
  // Decoding never makes a text longer.
  if (url.length > limits.queryLength) assertQuerySize(decodedPairs(pairs), limits)
  return pairs
}

/** The names and values of a URL's query, decoded where possible. */
export function decodedIn(url: string): readonly Pair[] {
  return decodedPairs(pairsOf(url))
}

function decodedPairs(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.map(([name, value]) => [decoded(name) ?? name, decoded(value) ?? value])
}

/** The names and values of a URL's query, not decoded. @throws Problem for too many */
function pairsOf(url: string): readonly Pair[] {
  const hash = url.indexOf('#')
  const target = hash < 0 ? url : url.slice(0, hash)
  const start = target.indexOf('?')
  const pairs: Pair[] = []
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

/** Like `readParameters`, for decoded names and values. */
export function gatherParameters(resource: Resource, pairs: readonly Pair[], hidden: Hidden): Parameters {
  assertParameterCount(pairs.length)
  assertQuerySize(pairs, resource.limits)
  const unknown: Pair[] = []
  const given = pairs.flatMap(([name, text]): Given[] => {
    const known = knownAs(resource, name, hidden)
    if (known === null) unknown.push([name, text])
    return known === null ? [] : [[known, text]]
  })
  return gathered(resource, hidden, given, unknown)
}

/** A known parameter: the name of a reserved one, or a field. */
type Known = string | Field
type Given = readonly [known: Known, text: string]

function gathered(resource: Resource, hidden: Hidden, given: readonly Given[], others: readonly Pair[]): Parameters {
  const reserved = new Map<string, string>()
  const fields = new Map<Field, string>()
  for (const [known, text] of given) {
    const isRepeated = typeof known === 'string' ? reserved.has(known) : fields.has(known)
    if (isRepeated) throw invalidQuery(toldAs(known), 'is given more than once.')
    if (typeof known === 'string') reserved.set(known, text)
    else fields.set(known, text)
  }
  // Parameters that have no effect on this resource are unknown.
  const useless = [...reserved].filter(([name]) => !isUsed(resource, name))
  const unknown: Unknown = {
    given: strangers(resource, [...others, ...useless]),
    of: 'list',
    hint: (...pair) => listHint(resource, hidden, validOf(resource, hidden), pair),
  }
  return { reserved, fields: [...fields], unknown }
}

/** Whether one of the package's parameters has an effect on this resource. */
function isUsed({ softDeletes, keyset, query: { sortable } }: Resource, name: string): boolean {
  if (name === 'includeDeleted') return softDeletes
  if (name === 'cursor') return keyset
  // Upserts read `by` themselves.
  if (name === 'by') return false
  return sortable || !name.startsWith('sort')
}

function validOf(resource: Resource, hidden: Hidden): readonly string[] {
  const fields = [...resource.parameters.values()].filter(({ name }) => !hidden.has(name))
  return [...[...resource.reserved].filter((name) => isUsed(resource, name)), ...fields.map(({ json }) => json)]
}

function knownAs({ parameters, reserved }: Resource, name: string, hidden: Hidden): Known | null {
  if (reserved.has(name)) return name
  const shaping = shapingName(name)
  if (shaping !== null) return shaping
  const field = parameters.get(name.toLowerCase())
  return field === undefined || hidden.has(field.name) ? null : field
}

function toldAs(known: Known): string {
  return typeof known === 'string' ? known : known.json
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
