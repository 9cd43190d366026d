/**
 * Returns the path and query of a request target. Proxies receive the absolute form (RFC 9112 section 3.2.2), whose
 * host the client chose, so the host is dropped. A fragment is invalid in a target and is dropped too.
 */
export function toOriginForm(target: string): string {
  const [whole = ''] = target.split('#', 1)
  const local = whole.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  return local.startsWith('/') ? local : `/${local}`
}
