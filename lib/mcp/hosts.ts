// Names of hosts and origins, as the headers `Host` and `Origin` have them.

/** The names of this machine. */
export const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** The name in a `Host` header, in lower case and without its port; null for a header that names no host. */
export function hostnameOf(host = ''): string | null {
  const url = `http://${host}`
  if (!URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return hostname === host.replace(/:\d+$/, '').toLowerCase() ? hostname : null
}

/** An origin in the form that browsers send; null for text that is no origin with a host. */
export function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { protocol, host } = new URL(text)
  return host === '' ? null : `${protocol}//${host}`
}

/** Whether an origin is that of the host a request is sent to. The default port may be written or left out. */
export function isOwnOrigin(origin: string, host = ''): boolean {
  const own = originOf(origin)
  if (own === null) return false
  const url = `${new URL(own).protocol}//${host}`
  return URL.canParse(url) && originOf(url) === own
}
