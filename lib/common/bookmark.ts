import { hash } from 'node:crypto'
import type { Bookmark, BookmarkValue } from '../../types/plan.js'

const VERSION = '2'
const MARK_LENGTH = 8
const CHECKSUM_LENGTH = 8

/** The longest cursor token in characters. */
export const TOKEN_LENGTH = 2048

/** The sort signature: binds a token to a resource and an order, by their names. */
export function markOf(parts: readonly string[]): string {
  return digest(JSON.stringify(parts), MARK_LENGTH)
}

/**
 * The opaque cursor token of a position. It is neither secret nor signed. Its checksum detects damage. A forged token
 * can do no more than a filter.
 */
export function tokenOf(mark: string, { inclusive, values }: Bookmark): string {
  const body = `${VERSION}${mark}${JSON.stringify([inclusive ? 1 : 0, ...values])}`
  return Buffer.from(digest(body, CHECKSUM_LENGTH) + body).toString('base64url')
}

/** The position in a cursor token; null unless `tokenOf` wrote it with this signature. The values are not trusted. */
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
  // Encodes the result again, because decoding tolerates other padding, foreign characters and blanks.
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
