import type { Request } from '../../types/express.js'
import type { FormatFunction, Reply, UnformattedReply } from '../../types/reply.js'
import { isPending } from '../common/pending.js'
import type { Said } from './formats.js'

type Whole = Pick<Reply, 'status' | 'headers'> & { readonly content: Said }

/** The content of a reply as the host's `format` makes it. @throws Error for what is no JSON, and for whatever `format` throws */
export function formatted(format: FormatFunction, whole: Whole, request: Request): Said {
  const reply = replyOf(whole)
  return reply === null ? whole.content : { kind: 'document', value: bodyBy(format, reply, request) }
}

/** The reply that `format` gets; null for a content that it does not make. */
function replyOf({ status, headers, content }: Whole): UnformattedReply | null {
  const told = { status, headers: { ...headers } }
  switch (content.kind) {
    case 'record':
      return { ...told, kind: content.kind, body: content.value }
    case 'records':
      return { ...told, kind: content.kind, body: content.value }
    case 'page':
      return { ...told, kind: content.kind, body: content.value }
    case 'cursorPage':
      return { ...told, kind: content.kind, body: content.value }
    case 'keysetPage':
      return { ...told, kind: content.kind, body: content.value }
    case 'items':
      return { ...told, kind: content.kind, body: content.value }
    default:
      return null
  }
}

function bodyBy(format: FormatFunction, reply: UnformattedReply, request: Request): unknown {
  const body = called(format, reply, request)
  if (isPending(body)) {
    Promise.resolve(body).catch(() => undefined)
    throw new TypeError('format gave a promise: it must give the body itself')
  }
  if (JSON_TYPES.has(typeof body)) return body
  throw new TypeError(`format must return JSON, not ${typeof body}`)
}

const JSON_TYPES: ReadonlySet<string> = new Set(['object', 'string', 'number', 'boolean'])

/** A Problem of the host's would say that nothing was done, whereas a write has been committed by now. */
function called(format: FormatFunction, reply: UnformattedReply, request: Request): unknown {
  try {
    return format({ reply, request })
  } catch (error) {
    throw new Error('format threw', { cause: error })
  }
}
