/** What `Prefer: handling=...` asks for (RFC 7240 sections 2 and 4.4): the first one counts, unknown words none. */
export function handlingOf(header: string | readonly string[] | undefined): 'lenient' | 'strict' | null {
  if (header === undefined) return null
  const preferences = typeof header === 'string' ? header : header.join(',')
  for (const preference of preferences.split(',')) {
    const [token = ''] = preference.split(';')
    const [name = '', value = ''] = token.split('=')
    if (name.trim().toLowerCase() !== 'handling') continue
    const word = value
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase()
    return word === 'lenient' || word === 'strict' ? word : null
  }
  return null
}
