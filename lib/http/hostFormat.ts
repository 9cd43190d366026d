import type { Request } from '../../types/express.js'
import type { FormatFunction, Reply, UnformattedReply } from '../../types/reply.js'
import { isPromise } from '../common/promise.js'
import type { BodyContent } from './formats.js'

type SuccessReply = Pick<Reply, 'status' | 'headers'> & { readonly content: BodyContent }

/**
 * Applies the host's `format` function to a reply. @throws Error if the result is not JSON, and any error of `format`
 */
export function applyFormat(format: FormatFunction, whole: SuccessReply, request: Request): BodyContent {
  const reply = toUnformattedReply(whole)
  return reply === null ? whole.content : { kind: 'document', value: formatBody(format, reply, request) }
}

/** Returns the argument of `format`; null for content that `format` does not change. */
function toUnformattedReply({ status, headers, content }: SuccessReply): UnformattedReply | null {
  const shared = { status, headers: { ...headers } }
  switch (content.kind) {
    case 'record':
      return { ...shared, kind: content.kind, body: content.value }
    case 'records':
      return { ...shared, kind: content.kind, body: content.value }
    case 'page':
      return { ...shared, kind: content.kind, body: content.value }
    case 'cursorPage':
      return { ...shared, kind: content.kind, body: content.value }
    case 'keysetPage':
      return { ...shared, kind: content.kind, body: content.value }
    case 'items':
      return { ...shared, kind: content.kind, body: content.value }
    default:
      return null
  }
}

function formatBody(format: FormatFunction, reply: UnformattedReply, request: Request): unknown {
  const body = callFormat(format, reply, request)
  if (isPromise(body)) {
    Promise.resolve(body).catch(() => undefined)
    throw new TypeError('the option "format" returned a promise. It must return the body itself')
  }
  if (JSON_TYPES.has(typeof body)) return body
  throw new TypeError(`the option "format" must return a JSON value, not a value of type ${typeof body}`)
}

const JSON_TYPES: ReadonlySet<string> = new Set(['object', 'string', 'number', 'boolean'])

/**
 * Wraps an error of `format` in an ordinary error. A Problem would tell the client that nothing was written, although
 * the write is already committed.
 */
function callFormat(format: FormatFunction, reply: UnformattedReply, request: Request): unknown {
  try {
    return format({ reply, request })
  } catch (error) {
    throw new Error('the function of the option "format" threw an error', { cause: error })
  }
}
