import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import { isObject } from '../common/object.js'
import { type Problem, problem } from '../common/problem.js'
import { sizedBody } from '../common/sizedBody.js'

/** The media types of request bodies: JSON, and RFC 7396's name for the same. */
export const MEDIA_TYPES: readonly string[] = ['application/json', 'application/merge-patch+json']

/** One JSON text a line, where a body is an array. */
export const LINES = 'application/jsonl'

/** Names and values as a URL's query has them. */
export const FORM = 'application/x-www-form-urlencoded'

const TEXTS: ReadonlySet<string> = new Set([LINES, FORM])

/**
 * The JSON body of a call, parsed by the host if it did, else here; lines and forms as text, unless the host made more of them.
 *
 * @throws Problem 415 for another content type, 413 for too many bytes, 400 for no body or malformed JSON
 */
export async function readBody(
  { limits: { bodySize } }: Resource,
  call: Call,
  as: 'json' | 'text',
  accepted: readonly string[] = MEDIA_TYPES,
): Promise<unknown> {
  const { isParsed, headers } = call
  if (!isThere(call)) throw malformed('The request has no body.')
  assertMediaType(headers, accepted)
  if (!isParsed) await call.read(as, bodySize).catch((error: unknown) => fail(error, bodySize))
  const { body } = call
  // The host's parser may have left bytes or text; ours has left text for lines alone, and a JSON string is no JSON text.
  if (!isParsed || (typeof body !== 'string' && !Buffer.isBuffer(body))) return body
  return TEXTS.has(mediaTypeOf(headers)) ? body.toString() : parsed(body.toString())
}

/** An adapter may have parsed a body that no header tells of; a length of none is none, whatever a parser made of it. */
function isThere({ isParsed, headers }: Call): boolean {
  return isParsed ? headers['content-length'] !== '0' : hasBody(headers)
}

const EMPTY = 'entity.empty'

/** Express's parser takes an empty body for `{}`: a chunked one tells only when it has ended that it has no bytes. */
export function refuseEmpty(_req: unknown, _res: unknown, bytes: Buffer): void {
  if (bytes.length === 0) throw Object.assign(new Error('The request has no body.'), { type: EMPTY })
}

/** @throws Problem 400 when the body is no JSON object */
export async function readObject(resource: Resource, call: Call): Promise<Readonly<Record<string, unknown>>> {
  const body = await readBody(resource, call, 'json')
  if (isObject(body)) return { ...sizedBody(body) }
  throw malformed('The body must be a JSON object.')
}

/** The same where there need be no body: null for none. */
export async function readOptionalObject(
  resource: Resource,
  call: Call,
): Promise<Readonly<Record<string, unknown>> | null> {
  return isThere(call) ? readObject(resource, call) : null
}

/** What an array is of, for who sent something else, and whether it may come as JSON lines too. */
interface ArrayOf {
  readonly lines?: boolean | undefined
  readonly of?: 'keys' | undefined
}

/** @throws Problem 400 when the body is no JSON array, or has more items than a bulk request may */
export async function readArray(
  resource: Resource,
  call: Call,
  { lines = false, of }: ArrayOf,
): Promise<readonly unknown[]> {
  const accepted = lines ? [...MEDIA_TYPES, LINES] : MEDIA_TYPES
  const { bulkItems } = resource.limits
  if (lines && mediaTypeOf(call.headers) === LINES) {
    return readLines(await readBody(resource, call, 'text', accepted), bulkItems)
  }
  const body = await readBody(resource, call, 'json', accepted)
  if (!Array.isArray(body)) throw malformed(`The body must be a JSON array${of === undefined ? '' : ` of ${of}`}.`)
  if (body.length > bulkItems) throw tooMany(bulkItems)
  for (const item of body) if (isObject(item)) sizedBody(item)
  return body
}

/** The JSON texts of a body, one a line; blank lines are none. */
function readLines(body: unknown, most: number): readonly unknown[] {
  if (typeof body !== 'string') throw malformed('The body must be lines of JSON.')
  const items: unknown[] = []
  for (const line of body.replace(/^\uFEFF/, '').split('\n')) {
    const text = line.trim()
    if (text === '') continue
    if (items.length === most) throw tooMany(most)
    try {
      items.push(JSON.parse(text))
    } catch {
      throw malformed(`[${items.length}] is not valid JSON.`)
    }
    const item = items.at(-1)
    if (isObject(item)) sizedBody(item)
  }
  return items
}

function tooMany(bulkItems: number): Problem {
  return malformed(`The body has more items than the limit of ${bulkItems} (bulkItems).`)
}

/** RFC 9112 section 6: a message has a body when one of these headers says so. */
function hasBody(headers: IncomingHttpHeaders): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && Number(length) > 0
}

export function isForm({ headers }: Call): boolean {
  return mediaTypeOf(headers) === FORM
}

function assertMediaType(headers: IncomingHttpHeaders, accepted: readonly string[]): void {
  if (accepted.includes(mediaTypeOf(headers))) return
  throw problem('unsupported-media-type', {
    detail: `The body must be ${accepted.join(' or ')}.`,
    headers: { Accept: accepted.join(', ') },
  })
}

function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  return type.trim().toLowerCase()
}

function fail(error: unknown, bodySize: number): never {
  const { status } = error as { status?: unknown }
  // Whatever else reading a body fails with is its sender's: a stream that breaks off, or does not decompress.
  throw bodyProblem(error, bodySize) ?? (status === 400 ? unread() : error)
}

/** What body-parser's errors are to the client; null for those that are not the client's. */
export function bodyProblem(error: unknown, bodySize: number | undefined): Problem | null {
  const { status, type } = error as { status?: unknown; type?: unknown }
  if (type === 'entity.too.large') {
    const limit = bodySize === undefined ? '' : ` of ${bodySize} bytes (bodySize)`
    return problem('content-too-large', { detail: `The body is larger than the limit${limit}.` })
  }
  if (type === EMPTY) return malformed('The request has no body.')
  if (type === 'entity.parse.failed') return malformed('The body is not valid JSON.')
  if (status === 415) return problem('unsupported-media-type', { detail: 'The charset or encoding is not supported.' })
  return status === 400 && (typeof type === 'string' || isInflating(error)) ? unread() : null
}

/** What does not decompress has no type, but a number and a code of zlib's, which has one family for each format. */
function isInflating(error: unknown): boolean {
  const { errno, code, syscall } = error as { errno?: unknown; code?: unknown; syscall?: unknown }
  return typeof errno === 'number' && typeof code === 'string' && syscall === undefined
}

function unread(): Problem {
  return malformed('The body could not be read.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
}

function malformed(detail: string): Problem {
  return problem('malformed-body', { detail })
}
