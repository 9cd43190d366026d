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

/** The word that a preference has where it stands first; null where it does not stand at all. */
function preferred(header: Header, preference: string): string | null {
  if (header === undefined) return null
  const preferences = typeof header === 'string' ? header : header.join(',')
  for (const each of preferences.split(',')) {
    const [token = ''] = each.split(';')
    const [name = '', value = ''] = token.split('=')
    if (name.trim().toLowerCase() !== preference) continue
    return value
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase()
  }
  return null
}
