/**
 * The path and query of a request's target. One in absolute form, as proxies are sent it (RFC 9112, 3.2.2), names a host of the client's
 * choice as well, which is no part of what is answered; nor is a fragment, which no target may have.
 */
export function originForm(target: string): string {
  const [whole = ''] = target.split('#', 1)
  const local = whole.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  return local.startsWith('/') ? local : `/${local}`
}
