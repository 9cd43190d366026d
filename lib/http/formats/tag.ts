import { createHash } from 'node:crypto'
import { nextTurn } from '../../common/turns.js'

/** Type of Express' setting `etag fn`: returns the entity tag of a body, or a falsy value. */
export type TagOf = (body: Buffer) => unknown

/** Creation of entity tags. */
export interface Tagging {
  readonly tagOf: TagOf
  /** Whether `tagOf` is a function of the host, which always gets the whole body. */
  readonly isOfHost: boolean
}

/** Weak entity tags, the same as Express'. */
export const WEAK: Tagging = { tagOf: (body) => hashed('weak', body), isOfHost: false }

/** Entity tag of a body, or null. */
export function tagBy({ tagOf }: Tagging, body: Buffer): string | null {
  const tag = tagOf(body)
  return tag ? String(tag) : null
}

/** Entity tag of a body in pieces. Other work runs between two pieces, except for a function that needs the whole body. */
export async function tagOfPieces(tagging: Tagging, pieces: readonly Buffer[]): Promise<string | null> {
  const kind = tagging.isOfHost ? undefined : kindOf(tagging)
  if (kind === undefined) return tagBy(tagging, Buffer.concat(pieces))
  const hash = createHash('sha1')
  let length = 0
  for (const piece of pieces) {
    hash.update(piece)
    length += piece.length
    await nextTurn()
  }
  return tagOfHash(kind, length, hash.digest('base64'))
}

type Kind = 'weak' | 'strong'

const KINDS: readonly Kind[] = ['weak', 'strong']
const SAMPLE = Buffer.from('{"name":"Zoë"}')

/** Kind of Express' own tag function, recognized by the tag of a sample. Undefined for other functions. */
function kindOf(tagging: Tagging): Kind | undefined {
  const tag = tagBy(tagging, SAMPLE)
  return KINDS.find((kind) => hashed(kind, SAMPLE) === tag)
}

function hashed(kind: Kind, body: Buffer): string {
  return tagOfHash(kind, body.length, createHash('sha1').update(body).digest('base64'))
}

function tagOfHash(kind: Kind, length: number, hash: string): string {
  return `${kind === 'weak' ? 'W/' : ''}"${length.toString(16)}-${hash.slice(0, 27)}"`
}
