import { createHash, hash } from 'node:crypto'
import { nextTurn } from '../../common/turns.js'

/** What Express' setting `etag fn` is: the tag of a body, or nothing. */
export type TagOf = (body: Buffer) => unknown

const kinds = new WeakMap<object, 'weak' | 'strong' | 'other'>()

/**
 * The entity tag of a body by Express' setting `etag fn`; null for none. Of Express' own functions it is made here by one call for the
 * hash: the object that they make for each costs twice as much, and more when it is let go of.
 */
export function tagBy(tagOf: TagOf, body: Buffer): string | null {
  const known = kinds.get(tagOf) ?? kindOf(tagOf)
  if (known === 'weak') return `W/${strong(body)}`
  if (known === 'strong') return strong(body)
  const tag = tagOf(body)
  return tag ? String(tag) : null
}

/** The same of a body in pieces. */
export async function tagOfPieces(tagOf: TagOf, pieces: readonly Buffer[]): Promise<string | null> {
  const kind = kinds.get(tagOf) ?? kindOf(tagOf)
  if (kind === 'other') return tagBy(tagOf, Buffer.concat(pieces))
  const hashed = createHash('sha1')
  let length = 0
  for (const piece of pieces) {
    hashed.update(piece)
    length += piece.length
    await nextTurn()
  }
  const tag = tagOfHash(length, hashed.digest('base64'))
  return kind === 'weak' ? `W/${tag}` : tag
}

function tagOfHash(length: number, hashed: string): string {
  return `"${length.toString(16)}-${hashed.slice(0, 27)}"`
}

function strong(body: Buffer): string {
  return tagOfHash(body.length, hash('sha1', body, 'base64'))
}

/** What is Express' own, of whichever version and copy, says so by its text, and makes the same of something. */
function kindOf(tagOf: TagOf): 'weak' | 'strong' | 'other' {
  const sample = Buffer.from('{"name":"Zoë"}')
  const tag = String(tagOf).includes('return etag(buf, options)') ? tagOf(sample) : null
  const kind = tag === strong(sample) ? 'strong' : tag === `W/${strong(sample)}` ? 'weak' : 'other'
  kinds.set(tagOf, kind)
  return kind
}
