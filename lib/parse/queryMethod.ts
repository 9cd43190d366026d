import { METHODS } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { isObject } from '../common/object.js'
import { invalidQuery, Problem, problem } from '../common/problem.js'
import { FORM, isForm, readBody } from './body.js'
import { assertParameterCount, assertQuerySize, decodedPairsOf, parameterNamesOf } from './parameters.js'

/** The method for lists with the parameters in the body (RFC 10008). Older versions of Node cannot receive it. */
const QUERY = 'QUERY'
export const SUPPORTS_QUERY: boolean = METHODS.includes(QUERY)

/** The media types of QUERY bodies. */
export const QUERY_TYPES: readonly string[] = [FORM, 'application/json']

/** The value of the header `Accept-Query` (RFC 10008 section 3). */
export const ACCEPT_QUERY: string = QUERY_TYPES.join(', ')

/** The factor by which parameters may be longer in a body than in a URL. */
const BODY_LIMIT_FACTOR = 10

const urlsByCall = new WeakMap<Call, string | Problem>()

export function isQueryMethod({ method }: Pick<Call, 'method'>): boolean {
  return method === QUERY
}

/**
 * Reads the body of a QUERY, so that `urlOf` includes its parameters. Errors are stored, and reported once the caller
 * is authorized.
 */
export async function readQueryBody(resource: Resource, call: Call): Promise<void> {
  try {
    const form = isForm(call)
    const body = await readBody(resource, call, form ? 'text' : 'json', QUERY_TYPES)
    const { limits } = resourceForQuery(resource, call)
    // A host that parses forms passes an object as the body.
    urlsByCall.set(
      call,
      addToUrl(call.url, form && typeof body === 'string' ? checkFormSize(body, limits) : toFormText(body, limits)),
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    urlsByCall.set(call, error)
  }
}

/** Throws the stored error of a QUERY body. @throws Problem for an invalid body */
export function assertValidQueryBody(call: Call): void {
  const found = urlsByCall.get(call)
  if (found instanceof Problem) throw found
}

/** Returns a request's URL, extended by the parameters of its body. An invalid body adds none. */
export function urlOf(call: Call): string {
  const found = urlsByCall.get(call)
  return typeof found === 'string' ? found : call.url
}

const resourcesForBodies = new WeakMap<Resource, Resource>()

/** Returns the resource, with larger limits if the parameters are in the body. */
export function resourceForQuery(resource: Resource, call: Call): Resource {
  if (!isQueryMethod(call)) return resource
  return getOrCreate(resourcesForBodies, resource, () => {
    const { filterLength, queryLength } = resource.limits
    const limits = {
      ...resource.limits,
      filterLength: filterLength * BODY_LIMIT_FACTOR,
      queryLength: queryLength * BODY_LIMIT_FACTOR,
    }
    return Object.freeze({ ...resource, limits: Object.freeze(limits) })
  })
}

/** Appends the body's parameters to the URL. @throws Problem for a parameter that is also in the URL */
function addToUrl(url: string, text: string): string {
  const inUrl = new Set(parameterNamesOf(url))
  const twice = inUrl.size === 0 ? undefined : parameterNamesOf(`?${text}`).find((name) => inUrl.has(name))
  if (twice !== undefined) throw invalidQuery(twice, 'is given both in the URL and in the body.')
  const [path = ''] = url.split('#', 1)
  return `${path}${path.includes('?') ? '&' : '?'}${text.replaceAll('#', '%23')}`
}

/** Returns the form unchanged. @throws Problem if the form exceeds the limit */
function checkFormSize(form: string, limits: Resource['limits']): string {
  assertQuerySize(decodedPairsOf(`?${form}`), limits)
  return form
}

/** Converts a JSON body to a form. @throws Problem if the body is not a flat object, or exceeds the limit */
function toFormText(body: unknown, limits: Resource['limits']): string {
  if (!isObject(body) || Buffer.isBuffer(body)) {
    throw problem('malformed-body', { detail: 'The body must be a JSON object.' })
  }
  const names = Object.keys(body)
  assertParameterCount(names.length)
  const pairs = names.map((name) => [name, toParameterText(name, body[name])] as const)
  assertQuerySize(pairs, limits)
  return pairs.map(([name, word]) => `${encodeText(name, name)}=${encodeText(name, word)}`).join('&')
}

function toParameterText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) throw invalidQuery(name, 'must be a text. Join the items of a list by commas.')
  if (typeof value !== 'number') throw invalidQuery(name, 'must be a text, a number, true or false.')
  // JSON has rounded a number that is not safe, so the client meant another number.
  if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return String(value)
  throw invalidQuery(name, 'is too large for a JSON number. Send it as a text.')
}

function encodeText(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw invalidQuery(name, 'is not valid Unicode text.')
  }
}
