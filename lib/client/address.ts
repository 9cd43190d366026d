import { decimalText } from '../language/decimalText.js'

/**
 * Texts that are impossible as a path segment. URL parsers remove dots, and an empty key would be the address of the
 * collection.
 */
const IMPOSSIBLE_SEGMENTS: ReadonlySet<string> = new Set(['', '.', '..'])

/**
 * Writes a key as a path segment. Parts of a composite key are joined by `~`. @throws TypeError for a key that a path
 * cannot contain
 */
export function keyPath(key: unknown): string {
  const isKey = Array.isArray(key) ? key.length > 0 && key.every(isCompositePart) : isKeyPart(key)
  if (!isKey) throw new TypeError('The key must be a text, a finite number, or an array of these.')
  return toSegment(keyText(key), 'key')
}

function isKeyPart(part: unknown): boolean {
  return typeof part === 'number' ? Number.isFinite(part) : typeof part === 'string' || typeof part === 'bigint'
}

function isCompositePart(part: unknown): boolean {
  return typeof part === 'boolean' || isKeyPart(part)
}

/**
 * Writes text as one path segment. @throws TypeError for a value other than text, and for text that would change the
 * address
 */
export function toSegment(text: unknown, name: string): string {
  if (typeof text !== 'string') throw new TypeError(`The ${name} must be a text, not of type ${typeof text}.`)
  if (!IMPOSSIBLE_SEGMENTS.has(text)) return encodeURIComponent(text)
  throw new TypeError(`The ${name} "${text}" cannot be part of an address.`)
}

/** Text of a key. Paths, bodies and lookups use one form. */
export function keyText(key: unknown): string {
  if (!Array.isArray(key)) return String(key)
  return key.map((part) => encodeURIComponent(String(part)).replaceAll('~', '%7E')).join('~')
}

/** The key as a body value. A composite key or a bigint becomes text. Other keys are unchanged. */
export function bodyKey(key: unknown): unknown {
  return Array.isArray(key) ? keyText(key) : typeof key === 'bigint' ? String(key) : key
}

/** Reads a record's key from its members. @throws TypeError if a part of the key is missing */
export function keyOf(record: object, names: readonly string[]): unknown {
  const parts = names.map((name) => {
    const part: unknown = Object.getOwnPropertyDescriptor(record, name)?.value
    if (part === undefined || part === null) throw new TypeError(`The record lacks its key: ${name}.`)
    return part
  })
  return parts.length === 1 ? parts[0] : parts
}

/**
 * Writes parameters as a query string. Lists are joined by commas, dates are ISO 8601, numbers have no exponent, and
 * undefined values are omitted.
 */
export function queryText(parameters: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    query.set(name, name === 'keys' && Array.isArray(value) ? value.map(escapeListedKey).join(',') : valueText(value))
  }
  return query.toString()
}

/** Writes a key for the parameter `keys`, with escaped commas and blanks. */
function escapeListedKey(key: unknown): string {
  return keyText(key).replace(/[\\,\s]/g, '\\$&')
}

function valueText(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number' && Number.isFinite(value)) return decimalText(value)
  return Array.isArray(value) ? value.map(valueText).join(',') : String(value)
}
