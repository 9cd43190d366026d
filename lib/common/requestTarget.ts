/**
 * The path and query of a request target. The absolute form, which proxies receive (RFC 9112 section 3.2.2), also names
 * a host chosen by the client. It is dropped, like a fragment, which targets must not have.
 */
export function toOriginForm(target: string): string {
  const [whole = ''] = target.split('#', 1)
  const local = whole.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  return local.startsWith('/') ? local : `/${local}`
}
