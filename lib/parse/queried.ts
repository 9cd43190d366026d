import { METHODS } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import { isObject } from '../common/object.js'
import { invalidQuery, Problem, problem } from '../common/problem.js'
import { FORM, isForm, readBody } from './body.js'
import { assertParameterCount, assertQuerySize, decodedIn, namesIn } from './parameters.js'

/** The method for lists with the parameters in the body (RFC 10008). Older versions of Node cannot receive it. */
const QUERY = 'QUERY'
export const TAKES_QUERY: boolean = METHODS.includes(QUERY)

/** The media types of its bodies. */
export const QUERY_TYPES: readonly string[] = [FORM, 'application/json']

/** The value of the header `Accept-Query` (RFC 10008 section 3). */
export const ACCEPT_QUERY: string = QUERY_TYPES.join(', ')

/** How many times longer the parameters may be than in a URL. */
const LONGER = 10

const read = new WeakMap<Call, string | Problem>()

export function isQuery({ method }: Pick<Call, 'method'>): boolean {
  return method === QUERY
}

/**
 * Reads the body of a QUERY; `urlOf` returns its parameters afterwards. Errors are stored, and reported once the caller
 * is authorized.
 */
export async function readQuery(resource: Resource, call: Call): Promise<void> {
  try {
    const form = isForm(call)
    const body = await readBody(resource, call, form ? 'text' : 'json', QUERY_TYPES)
    const { limits } = readFor(resource, call)
    // A host that parses forms passes an object.
    read.set(call, added(call.url, form && typeof body === 'string' ? sized(body, limits) : textOf(body, limits)))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    read.set(call, error)
  }
}

/** @throws Problem for an invalid body of a QUERY */
export function assertQueried(call: Call): void {
  const found = read.get(call)
  if (found instanceof Problem) throw found
}

/** A request's URL with the parameters of its body added. An invalid body adds none. */
export function urlOf(call: Call): string {
  const found = read.get(call)
  return typeof found === 'string' ? found : call.url
}

const wider = new WeakMap<Resource, Resource>()

/** A resource with larger limits if the parameters are in the body. */
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

/** @throws Problem for a parameter that is also in the URL */
function added(url: string, text: string): string {
  const inUrl = new Set(namesIn(url))
  const twice = inUrl.size === 0 ? undefined : namesIn(`?${text}`).find((name) => inUrl.has(name))
  if (twice !== undefined) throw invalidQuery(twice, 'is given both in the URL and in the body.')
  const [path = ''] = url.split('#', 1)
  return `${path}${path.includes('?') ? '&' : '?'}${text.replaceAll('#', '%23')}`
}

/** Returns the form unchanged. @throws Problem if it exceeds the limit */
function sized(form: string, limits: Resource['limits']): string {
  assertQuerySize(decodedIn(`?${form}`), limits)
  return form
}

/** @throws Problem if the body is not a flat object, or exceeds the limit */
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
  // JSON has rounded a larger number, so the client meant another one.
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
