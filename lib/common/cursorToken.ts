import { hash } from 'node:crypto'
import type { CursorPosition, CursorValue } from '../../types/plan.js'

const VERSION = '2'
const SIGNATURE_LENGTH = 8
const CHECKSUM_LENGTH = 8

/** The longest cursor token in characters. */
export const MAX_TOKEN_LENGTH = 2048

/** Returns the sort signature, which binds a token to a resource and an order by their names. */
export function createSortSignature(parts: readonly string[]): string {
  return hashText(JSON.stringify(parts), SIGNATURE_LENGTH)
}

/**
 * Encodes a position as an opaque cursor token. The token is neither secret nor signed, because a forged token can do
 * no more than a filter. Its checksum detects damage.
 */
export function encodeCursorToken(mark: string, { inclusive, values }: CursorPosition): string {
  const body = `${VERSION}${mark}${JSON.stringify([inclusive ? 1 : 0, ...values])}`
  return Buffer.from(hashText(body, CHECKSUM_LENGTH) + body).toString('base64url')
}

/**
 * Decodes a cursor token. Returns null unless `encodeCursorToken` wrote the token with this signature. The values are
 * not trusted.
 */
export function decodeCursorToken(mark: string, token: string): CursorPosition | null {
  if (token.length > MAX_TOKEN_LENGTH) return null
  const text = Buffer.from(token, 'base64url').toString()
  const body = text.slice(CHECKSUM_LENGTH)
  const start = VERSION + mark
  if (!body.startsWith(start)) return null
  const decoded = parseJson(body.slice(start.length))
  if (!Array.isArray(decoded)) return null
  const [flag, ...values]: readonly unknown[] = decoded
  if ((flag !== 0 && flag !== 1) || !values.every(isCursorValue)) return null
  const bookmark: CursorPosition = { inclusive: flag === 1, values }
  // Decoding tolerates other padding, foreign characters and blanks, so the result is encoded again and compared with
  // the token.
  return encodeCursorToken(mark, bookmark) === token ? bookmark : null
}

/** Whether a cursor token can contain a value. */
export function isCursorValue(value: unknown): value is CursorValue {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function hashText(text: string, length: number): string {
  return hash('sha256', text, 'base64url').slice(0, length)
}
