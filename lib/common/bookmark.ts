import { hash } from 'node:crypto'
import type { Bookmark, BookmarkValue } from '../../types/plan.js'

const VERSION = '2'
const MARK_LENGTH = 8
const CHECKSUM_LENGTH = 8

/** The most characters of a token. */
export const TOKEN_LENGTH = 2048

/** What ties a token to a resource and an order, both told by their names. */
export function markOf(parts: readonly string[]): string {
  return digest(JSON.stringify(parts), MARK_LENGTH)
}

/**
 * The opaque token of a bookmark. It is no secret and no signature: the checksum tells what was damaged, and whoever makes a
 * token says no more by it than by a filter.
 */
export function tokenOf(mark: string, { inclusive, values }: Bookmark): string {
  const body = `${VERSION}${mark}${JSON.stringify([inclusive ? 1 : 0, ...values])}`
  return Buffer.from(digest(body, CHECKSUM_LENGTH) + body).toString('base64url')
}

/** What a token says, or null for what no `tokenOf` with this mark gave. Untrusted: the values may be any. */
export function bookmarkIn(mark: string, token: string): Bookmark | null {
  if (token.length > TOKEN_LENGTH) return null
  const text = Buffer.from(token, 'base64url').toString()
  const body = text.slice(CHECKSUM_LENGTH)
  const start = VERSION + mark
  if (!body.startsWith(start)) return null
  const said = parsed(body.slice(start.length))
  if (!Array.isArray(said)) return null
  const [flag, ...values]: readonly unknown[] = said
  if ((flag !== 0 && flag !== 1) || !values.every(isValue)) return null
  const bookmark: Bookmark = { inclusive: flag === 1, values }
  // Made again with its checksum: decoding is lenient about padding, foreign characters and blanks, and encoding is not.
  return tokenOf(mark, bookmark) === token ? bookmark : null
}

function isValue(value: unknown): value is BookmarkValue {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function digest(text: string, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length)
}
