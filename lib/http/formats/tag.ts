import { createHash } from 'node:crypto'
import { yieldToEventLoop } from '../../common/eventLoop.js'

/** The type of Express' setting `etag fn`: returns the entity tag of a body, or a falsy value. */
export type CreateTag = (body: Buffer) => unknown

/** The function that creates entity tags. */
export interface Tagging {
  readonly tagOf: CreateTag
  /** Whether `tagOf` is a function of the host, which needs the whole body. */
  readonly isOfHost: boolean
}

/** Creates weak entity tags, equal to those that Express creates. */
export const WEAK_TAGGING: Tagging = { tagOf: (body) => hashTag('weak', body), isOfHost: false }

/** Returns the entity tag of a body; null without one. */
export function createTag({ tagOf }: Tagging, body: Buffer): string | null {
  const tag = tagOf(body)
  return tag ? String(tag) : null
}

/**
 * Returns the entity tag of a body in pieces. Other work runs between two pieces, unless the host's function needs the
 * whole body.
 */
export async function createTagOfPieces(tagging: Tagging, pieces: readonly Buffer[]): Promise<string | null> {
  const kind = tagging.isOfHost ? undefined : recognizeKind(tagging)
  if (kind === undefined) return createTag(tagging, Buffer.concat(pieces))
  const hash = createHash('sha1')
  let length = 0
  for (const piece of pieces) {
    hash.update(piece)
    length += piece.length
    await yieldToEventLoop()
  }
  return formatTag(kind, length, hash.digest('base64'))
}

type Kind = 'weak' | 'strong'

const KINDS: readonly Kind[] = ['weak', 'strong']
const SAMPLE = Buffer.from('{"name":"Zoë"}')

/** Recognizes Express' own tag functions by the tag of a sample. Returns undefined for other functions. */
function recognizeKind(tagging: Tagging): Kind | undefined {
  const tag = createTag(tagging, SAMPLE)
  return KINDS.find((kind) => hashTag(kind, SAMPLE) === tag)
}

function hashTag(kind: Kind, body: Buffer): string {
  return formatTag(kind, body.length, createHash('sha1').update(body).digest('base64'))
}

function formatTag(kind: Kind, length: number, hash: string): string {
  return `${kind === 'weak' ? 'W/' : ''}"${length.toString(16)}-${hash.slice(0, 27)}"`
}
