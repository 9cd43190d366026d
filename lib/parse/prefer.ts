type Header = string | readonly string[] | undefined

/** What `Prefer: handling=...` asks for (RFC 7240 sections 2 and 4.4): the first one counts, unknown words none. */
export function handlingOf(header: Header): 'lenient' | 'strict' | null {
  const word = preferred(header, 'handling')
  return word === 'lenient' || word === 'strict' ? word : null
}

/** Whether `Prefer: return=minimal` asks for no record in the reply (RFC 7240 section 4.2). */
export function isMinimal(header: Header): boolean {
  return preferred(header, 'return') === 'minimal'
}

/** Whether `Prefer: trailer-row` asks for a last line that says how many records an export has. */
export function isCounted(header: Header): boolean {
  return preferred(header, 'trailer-row') !== null
}

/** Whether `Prefer: read=primary` asks for what has just been written: reads then do not go to a replica. */
export function isPrimaryPreferred(header: Header): boolean {
  return preferred(header, 'read') === 'primary'
}

/** How many records a request may change, by `Prefer: max-affected=2`; null where the preference is missing or no whole number. */
export function mostAffected(header: Header): number | null {
  const text = preferred(header, 'max-affected')
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** A preference (RFC 7240 section 2): its name, and its value as a quoted string or a token. */
const PREFERENCE = /^\s*([^\s=;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*)?(?:;|$)/

/** The word that a preference has where it stands first; null where it does not stand at all. */
function preferred(header: Header, preference: string): string | null {
  if (header === undefined) return null
  for (const each of preferencesIn(typeof header === 'string' ? header : header.join(','))) {
    const [, name, quoted, word = ''] = PREFERENCE.exec(each) ?? []
    if (name?.toLowerCase() === preference) return (quoted?.replace(/\\(.)/g, '$1') ?? word).toLowerCase()
  }
  return null
}

/** The preferences of a header, which commas outside of quoted strings separate. */
function* preferencesIn(header: string): Generator<string> {
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
