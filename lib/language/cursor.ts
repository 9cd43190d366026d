import { hash } from 'node:crypto'

const VERSION = '1'
const TAG_LENGTH = 8

/** The most characters of a token whose key is no longer than other keys are. */
const TOKEN_LENGTH = 512

/** What ties a token to the resource that gave it. */
function tagOf(resource: string): string {
  return hash('sha256', resource, 'base64url').slice(0, TAG_LENGTH)
}

/** The opaque token of a keyset page: versioned, tied to one resource, naming the last key seen. */
export class CursorCodec {
  readonly #prefix: string
  /** The most characters of a token. */
  readonly maxLength: number

  /** `keyLength` is the most characters that a key of the resource has. */
  constructor(resource: string, keyLength: number) {
    this.#prefix = `${VERSION}.${tagOf(resource)}.`
    // Four bytes a character at the most, and base64url writes three bytes in four characters.
    this.maxLength = Math.max(TOKEN_LENGTH, Math.ceil(((this.#prefix.length + keyLength * 4) * 4) / 3))
  }

  encode(key: string): string {
    return Buffer.from(this.#prefix + key).toString('base64url')
  }

  /** The key in a token, or null for what no `encode` of this resource gave. Untrusted: the key may be anything. */
  decode(token: string): string | null {
    if (token.length > this.maxLength) return null
    const text = Buffer.from(token, 'base64url').toString()
    if (!text.startsWith(this.#prefix)) return null
    const key = text.slice(this.#prefix.length)
    // Decoding is lenient about padding, foreign characters and broken UTF-8; encoding again is not.
    return this.encode(key) === token ? key : null
  }
}
