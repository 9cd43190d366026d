import { hash } from 'node:crypto'

const VERSION = '1'
const TAG_LENGTH = 8

/** Maximum length of a token in characters. Resources with longer keys have a larger maximum. */
const MAX_KEY_TOKEN_LENGTH = 512

/** Short hash of a resource's name. A token contains it, so that other resources reject the token. */
function resourceTag(resource: string): string {
  return hash('sha256', resource, 'base64url').slice(0, TAG_LENGTH)
}

/** Encodes the last key of a page as an opaque token. The token has a version and is valid for one resource. */
export class CursorCodec {
  readonly #prefix: string
  /** Maximum length of a token in characters. */
  readonly maxLength: number

  /** @param keyLength maximum length of the resource's keys, in characters */
  constructor(resource: string, keyLength: number) {
    this.#prefix = `${VERSION}.${resourceTag(resource)}.`
    // UTF-8 has at most four bytes per character, and base64url writes three bytes as four characters.
    this.maxLength = Math.max(MAX_KEY_TOKEN_LENGTH, Math.ceil(((this.#prefix.length + keyLength * 4) * 4) / 3))
  }

  encode(key: string): string {
    return Buffer.from(this.#prefix + key).toString('base64url')
  }

  /** Decodes a token to its key. Returns null unless this resource encoded the token. The key is not trusted. */
  decode(token: string): string | null {
    if (token.length > this.maxLength) return null
    const text = Buffer.from(token, 'base64url').toString()
    if (!text.startsWith(this.#prefix)) return null
    const key = text.slice(this.#prefix.length)
    // The result is encoded again and compared, because decoding accepts other padding, foreign characters and broken
    // UTF-8.
    return this.encode(key) === token ? key : null
  }
}
