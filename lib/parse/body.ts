import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../../types/call.js'
import type { Resource } from '../../types/resource.js'
import { LINES, mediaTypeOf, splitJsonLines } from '../common/jsonLines.js'
import { checkMemberCount } from '../common/memberCount.js'
import { isObject } from '../common/object.js'
import { type Problem, problem } from '../common/problem.js'

/** The media types of request bodies: JSON, and the merge patch of RFC 7396. */
export const MEDIA_TYPES: readonly string[] = ['application/json', 'application/merge-patch+json']

/** The media type of forms, which have the format of a URL's query. */
export const FORM = 'application/x-www-form-urlencoded'

const TEXTS: ReadonlySet<string> = new Set([LINES, FORM])

/**
 * Returns the JSON body of a call, parsed by the host or by this package. JSON lines and forms are returned as text,
 * unless the host parsed them.
 *
 * @throws Problem 415 for another content type, 413 for too many bytes, 400 for a missing body or malformed JSON
 */
export async function readBody(
  { limits: { bodySize } }: Resource,
  call: Call,
  as: 'json' | 'text',
  accepted: readonly string[] = MEDIA_TYPES,
): Promise<unknown> {
  const { isParsed, headers } = call
  if (!isBodySent(call)) throw createMalformedProblem('The request has no body.')
  assertMediaType(headers, accepted)
  if (!isParsed) await call.readBody(as, bodySize).catch((error: unknown) => throwBodyProblem(error, bodySize))
  const { body } = call
  // A parser of the host may return bytes or text, which are parsed here unless they are JSON lines or a form. A body
  // that this package has read is final.
  if (!isParsed || (typeof body !== 'string' && !Buffer.isBuffer(body))) return body
  if (typeof body !== 'string' && !isUtf8(body)) throw createMalformedProblem('The body is not valid UTF-8.')
  return TEXTS.has(mediaTypeOf(headers)) ? body.toString() : parseJson(body.toString())
}

/**
 * Whether the request has a body. An adapter may have parsed a body without headers. A length of 0 means no body,
 * whatever the parser returned.
 */
function isBodySent({ isParsed, headers }: Call): boolean {
  return isParsed ? headers['content-length'] !== '0' : hasBody(headers)
}

const REJECTED = 'entity.rejected'

/**
 * Rejects a body that Express would read as another body: an empty one as `{}`, and bytes that are not UTF-8 as U+FFFD.
 * The end of a chunked body is the first sign that it is empty.
 */
export function rejectMisread(_req: unknown, _res: unknown, bytes: Buffer, charset: string): void {
  if (bytes.length === 0) throw createRejection('The request has no body.')
  if (charset === 'utf-8' && !isUtf8(bytes)) throw createRejection('The body is not valid UTF-8.')
}

function createRejection(message: string): Error {
  return Object.assign(new Error(message), { type: REJECTED })
}

/** Reads a body that must be a JSON object. @throws Problem 400 for another value */
export async function readObject(resource: Resource, call: Call): Promise<Readonly<Record<string, unknown>>> {
  const body = await readBody(resource, call, 'json')
  if (isObject(body)) return { ...checkMemberCount(body) }
  throw createMalformedProblem('The body must be a JSON object.')
}

/** Reads a body like `readObject`; null if there is no body. */
export async function readOptionalObject(
  resource: Resource,
  call: Call,
): Promise<Readonly<Record<string, unknown>> | null> {
  return isBodySent(call) ? readObject(resource, call) : null
}

/** How an array is read: the kind of its elements for error messages, and whether JSON lines are accepted. */
interface ArrayOptions {
  readonly lines?: boolean | undefined
  readonly of?: 'keys' | undefined
}

/**
 * Reads a body that must be a JSON array. @throws Problem 400 for another value, and for more items than the limit of a
 * bulk request
 */
export async function readArray(
  resource: Resource,
  call: Call,
  { lines = false, of }: ArrayOptions,
): Promise<readonly unknown[]> {
  const accepted = lines ? [...MEDIA_TYPES, LINES] : MEDIA_TYPES
  const { bulkItems } = resource.limits
  if (lines && mediaTypeOf(call.headers) === LINES) {
    return readLines(await readBody(resource, call, 'text', accepted), bulkItems)
  }
  const body = await readBody(resource, call, 'json', accepted)
  if (!Array.isArray(body))
    throw createMalformedProblem(`The body must be a JSON array${of === undefined ? '' : ` of ${of}`}.`)
  if (body.length > bulkItems) throw createTooManyItems(bulkItems)
  for (const item of body) if (isObject(item)) checkMemberCount(item)
  return body
}

/** Parses the JSON texts of a body, one per line. Blank lines are skipped. */
function readLines(body: unknown, most: number): readonly unknown[] {
  if (typeof body !== 'string') throw createMalformedProblem('The body must be lines of JSON.')
  const items: unknown[] = []
  for (const text of splitJsonLines(body)) {
    if (items.length === most) throw createTooManyItems(most)
    try {
      items.push(JSON.parse(text))
    } catch {
      throw createMalformedProblem(`[${items.length}] is not valid JSON.`)
    }
    const item = items.at(-1)
    if (isObject(item)) checkMemberCount(item)
  }
  return items
}

function createTooManyItems(bulkItems: number): Problem {
  return createMalformedProblem(`The body has more items than the limit of ${bulkItems} (bulkItems).`)
}

/** Whether a message has a body: one of these headers is present (RFC 9112 section 6). */
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

function throwBodyProblem(error: unknown, bodySize: number): never {
  const { status } = error as { status?: unknown }
  // Other errors while reading are caused by the client as well, such as an aborted stream or one that cannot be
  // decompressed.
  throw bodyProblem(error, bodySize) ?? (status === 400 ? createUnreadProblem() : error)
}

/** Converts errors of body-parser to problems; null for errors that the client did not cause. */
export function bodyProblem(error: unknown, bodySize: number | undefined): Problem | null {
  const { status, type, message } = error as { status?: unknown; type?: unknown; message?: unknown }
  if (type === 'entity.too.large') {
    const limit = bodySize === undefined ? '' : ` of ${bodySize} bytes (bodySize)`
    return problem('content-too-large', { detail: `The body is larger than the limit${limit}.` })
  }
  if (type === REJECTED) return createMalformedProblem(String(message))
  if (type === 'entity.parse.failed') return createMalformedProblem('The body is not valid JSON.')
  if (status === 415) return problem('unsupported-media-type', { detail: 'The charset or encoding is not supported.' })
  return status === 400 && (typeof type === 'string' || isDecompressionError(error)) ? createUnreadProblem() : null
}

/**
 * Whether an error comes from decompression. Such an error has no type, but a number and a code of zlib. Codes differ
 * by compression format.
 */
function isDecompressionError(error: unknown): boolean {
  const { errno, code, syscall } = error as { errno?: unknown; code?: unknown; syscall?: unknown }
  return typeof errno === 'number' && typeof code === 'string' && syscall === undefined
}

function createUnreadProblem(): Problem {
  return createMalformedProblem('The body could not be read.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw createMalformedProblem('The body is not valid JSON.')
  }
}

function createMalformedProblem(detail: string): Problem {
  return problem('malformed-body', { detail })
}
