import { createHash, hash } from 'node:crypto'
import { nextTurn } from '../../common/turns.js'

/** What Express' setting `etag fn` is: the tag of a body, or nothing. */
export type TagOf = (body: Buffer) => unknown

/** How entity tags are made: by Express' own hash of the body, weak or strong, or by a function of the host. */
export type Tagging = 'weak' | 'strong' | TagOf

/** The entity tag of a body in pieces; null for none. */
export async function tagOfPieces(tagging: Tagging, pieces: readonly Buffer[]): Promise<string | null> {
  if (typeof tagging === 'function') return tagBy(tagging, Buffer.concat(pieces))
  const hashed = createHash('sha1')
  let length = 0
  for (const piece of pieces) {
    hashed.update(piece)
    length += piece.length
    await nextTurn()
  }
  return tagOfHash(tagging, length, hashed.digest('base64'))
}

/** The same at once. */
export function tagBy(tagging: Tagging, body: Buffer): string | null {
  if (typeof tagging !== 'function') return tagOfHash(tagging, body.length, hash('sha1', body, 'base64'))
  const tag = tagging(body)
  return tag ? String(tag) : null
}

function tagOfHash(kind: 'weak' | 'strong', length: number, hashed: string): string {
  return `${kind === 'weak' ? 'W/' : ''}"${length.toString(16)}-${hashed.slice(0, 27)}"`
}

const known = new WeakMap<TagOf, Tagging>()

/**
 * How the function of the setting `etag fn` makes tags. Express' own functions make an object for each hash, which costs twice as
 * much as the hash itself, so that a function that gives the tag of one of them for a sample is not called.
 */
export function kindOf(tagOf: TagOf, setting: unknown): Tagging {
  if (tagOf === setting) return tagOf
  const found = known.get(tagOf)
  if (found !== undefined) return found
  const sample = Buffer.from('{"name":"Zoë"}')
  const tag = tagOf(sample)
  const kind = (['weak', 'strong'] as const).find((each) => tagBy(each, sample) === tag) ?? tagOf
  known.set(tagOf, kind)
  return kind
}
