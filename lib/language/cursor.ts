import { hash } from 'node:crypto'

const VERSION = '1'
const TAG_LENGTH = 8

/** The longest token in characters, for keys of usual length. */
const MAX_KEY_TOKEN_LENGTH = 512

/** Binds a token to its resource. */
function resourceTag(resource: string): string {
  return hash('sha256', resource, 'base64url').slice(0, TAG_LENGTH)
}

/** Encodes the last key of a keyset page as an opaque token with a version, bound to one resource. */
export class CursorCodec {
  readonly #prefix: string
  /** The longest token in characters. */
  readonly maxLength: number

  /** `keyLength` is the longest key of the resource in characters. */
  constructor(resource: string, keyLength: number) {
    this.#prefix = `${VERSION}.${resourceTag(resource)}.`
    // UTF-8 has at most four bytes per character, and base64url writes three bytes as four characters.
    this.maxLength = Math.max(MAX_KEY_TOKEN_LENGTH, Math.ceil(((this.#prefix.length + keyLength * 4) * 4) / 3))
  }

  encode(key: string): string {
    return Buffer.from(this.#prefix + key).toString('base64url')
  }

  /** The key in a token; null unless this resource encoded it. The key is not trusted. */
  decode(token: string): string | null {
    if (token.length > this.maxLength) return null
    const text = Buffer.from(token, 'base64url').toString()
    if (!text.startsWith(this.#prefix)) return null
    const key = text.slice(this.#prefix.length)
    // Encodes the result again, because decoding tolerates other padding, foreign characters and broken UTF-8.
    return this.encode(key) === token ? key : null
  }
}
