import { METHODS } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import { isObject } from '../common/object.js'
import { invalidQuery, Problem, problem } from '../common/problem.js'
import { FORM, isForm, readBody } from './body.js'
import { assertParameterCount, assertQuerySize, decodedIn, namesIn } from './parameters.js'

/** The method that has the parameters of a list in its body (RFC 10008), and whether this Node reads requests with it. */
const QUERY = 'QUERY'
export const TAKES_QUERY: boolean = METHODS.includes(QUERY)

/** The media types of its bodies. */
export const QUERY_TYPES: readonly string[] = [FORM, 'application/json']

/** The same as the header `Accept-Query` has it (RFC 10008 section 3). */
export const ACCEPT_QUERY: string = QUERY_TYPES.join(', ')

/** How much longer than in a URL its texts may be. */
const LONGER = 10

const read = new WeakMap<Call, string | Problem>()

export function isQuery({ method }: Pick<Call, 'method'>): boolean {
  return method === QUERY
}

/**
 * Reads the body of a QUERY, for whoever asks for the parameters of the request from then on. What is wrong with it is
 * kept as well: it is told when it is known that the caller may ask at all.
 */
export async function readQuery(resource: Resource, call: Call): Promise<void> {
  try {
    const form = isForm(call)
    const body = await readBody(resource, call, form ? 'text' : 'json', QUERY_TYPES)
    const { limits } = readFor(resource, call)
    // A host that parses forms has left an object.
    read.set(call, added(call.url, form && typeof body === 'string' ? sized(body, limits) : textOf(body, limits)))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    read.set(call, error)
  }
}

/** @throws Problem for a body of a QUERY that says nothing */
export function assertQueried(call: Call): void {
  const found = read.get(call)
  if (found instanceof Problem) throw found
}

/** A request's URL with all the parameters in it; those of a body that says nothing are left out. */
export function urlOf(call: Call): string {
  const found = read.get(call)
  return typeof found === 'string' ? found : call.url
}

const wider = new WeakMap<Resource, Resource>()

/** A resource as its lists are read by a request: where the parameters are in the body, there is room for longer ones. */
export function readFor(resource: Resource, call: Call): Resource {
  if (!isQuery(call)) return resource
  const known = wider.get(resource)
  if (known !== undefined) return known
  const { filterLength, queryLength } = resource.limits
  const limits = { ...resource.limits, filterLength: filterLength * LONGER, queryLength: queryLength * LONGER }
  const made = Object.freeze({ ...resource, limits: Object.freeze(limits) })
  wider.set(resource, made)
  return made
}

/** @throws Problem for a name that the URL has as well */
function added(url: string, text: string): string {
  const inUrl = new Set(namesIn(url))
  const twice = inUrl.size === 0 ? undefined : namesIn(`?${text}`).find((name) => inUrl.has(name))
  if (twice !== undefined) throw invalidQuery(twice, 'is given both in the URL and in the body.')
  const [path = ''] = url.split('#', 1)
  return `${path}${path.includes('?') ? '&' : '?'}${text.replaceAll('#', '%23')}`
}

/** A form as it is. @throws Problem for one that is longer than a query may be */
function sized(form: string, limits: Resource['limits']): string {
  assertQuerySize(decodedIn(`?${form}`), limits)
  return form
}

/** @throws Problem for a body that is no flat object, or longer than a query may be */
function textOf(body: unknown, limits: Resource['limits']): string {
  if (!isObject(body) || Buffer.isBuffer(body)) {
    throw problem('malformed-body', { detail: 'The body must be a JSON object.' })
  }
  const names = Object.keys(body)
  assertParameterCount(names.length)
  const pairs = names.map((name) => [name, wordOf(name, body[name])] as const)
  assertQuerySize(pairs, limits)
  return pairs.map(([name, word]) => `${encoded(name, name)}=${encoded(name, word)}`).join('&')
}

function wordOf(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) throw invalidQuery(name, 'must be text: a list is joined by commas.')
  if (typeof value !== 'number') throw invalidQuery(name, 'must be text, a number, true or false.')
  // What JSON could not hold has become another number, which nobody asked for.
  if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return String(value)
  throw invalidQuery(name, 'is too large for a number of JSON: it must be text.')
}

function encoded(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw invalidQuery(name, 'is not valid Unicode text.')
  }
}
