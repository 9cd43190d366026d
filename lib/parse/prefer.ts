import type { Call } from '../../types/call.js'

type Header = string | readonly string[] | undefined

/**
 * Reads `Prefer: handling=...` (RFC 7240 sections 2 and 4.4). The first occurrence applies; unknown values are ignored.
 */
export function readHandling(header: Header): 'lenient' | 'strict' | null {
  const word = readPreference(header, 'handling')
  return word === 'lenient' || word === 'strict' ? word : null
}

/** Whether `Prefer: return=minimal` requests a reply without records (RFC 7240 section 4.2). */
export function prefersMinimal({ headers }: Pick<Call, 'headers'>): boolean {
  return readPreference(headers.prefer, 'return') === 'minimal'
}

/** Whether `Prefer: trailer-row` requests a last line with the number of records in an export. */
export function hasTrailerRowPreference(header: Header): boolean {
  return readPreference(header, 'trailer-row') !== null
}

/** Whether `Prefer: read=primary` requests a read from the primary instead of a replica. */
export function isPrimaryPreferred(header: Header): boolean {
  return readPreference(header, 'read') === 'primary'
}

/** Reads `Prefer: max-affected=2`, the maximum number of records to change. Null without an integer. */
export function readMaxAffected(header: Header): number | null {
  const text = readPreference(header, 'max-affected')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** A preference (RFC 7240 section 2): its name, and its value as a quoted string or a token. */
const PREFERENCE = /^\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*)?(?:;|$)/

/** Returns the value of a preference's first occurrence; null without the preference. */
function readPreference(header: Header, preference: string): string | null {
  if (header === undefined) return null
  for (const each of splitPreferences(typeof header === 'string' ? header : header.join(','))) {
    const [, name, quoted, word = ''] = PREFERENCE.exec(each) ?? []
    if (name?.toLowerCase() === preference) return (quoted?.replace(/\\(.)/g, '$1') ?? word).toLowerCase()
  }
  return null
}

/** Splits a header into its preferences, at commas outside quoted strings. */
function* splitPreferences(header: string): Generator<string> {
  let start = 0
  let isQuoted = false
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at]
    if (isQuoted && character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) {
      yield header.slice(start, at)
      start = at + 1
    }
  }
  yield header.slice(start)
}
