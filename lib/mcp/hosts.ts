// Parses host names and origins as the headers `Host` and `Origin` contain them.

/** Names of the local machine. */
export const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * Reads the host name from a `Host` header, in lower case and without the port. Returns null if the header is
 * malformed.
 */
export function hostnameOf(host = ''): string | null {
  const url = `http://${host}`
  if (!URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return hostname === host.replace(/:\d+$/, '').toLowerCase() ? hostname : null
}

/** Normalizes an origin to the form that browsers send. Returns null if the text is not an origin with a host. */
export function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, host } = new URL(text)
  return host === '' ? null : `${protocol}//${host}`
}

/** Whether an origin has the host of the request's `Host` header. The default port is optional. */
export function isOwnOrigin(origin: string, host = ''): boolean {
  const own = originOf(origin)
  if (own === null) return false
  const url = `${new URL(own).protocol}//${host}`
  return URL.canParse(url) && originOf(url) === own
}
