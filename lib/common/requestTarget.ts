/**
 * Returns the path and query of a request target. Proxies receive the absolute form (RFC 9112 section 3.2.2). Its host
 * is dropped, because the client chose the host. A fragment is invalid in a target and is dropped as well.
 */
export function toOriginForm(target: string): string {
  const [whole = ''] = target.split('#', 1)
  if (whole.startsWith('/')) return whole
  const local = whole.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  return local.startsWith('/') ? local : `/${local}`
}
