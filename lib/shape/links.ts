/** `Link` headers longer than this are left out: intermediaries refuse long headers. */
const MAX_LENGTH = 4096

interface PageLinks {
  readonly page: number
  /** Null where nobody counted: then there is no last one to point to. */
  readonly totalPages: number | null
  readonly more: boolean
}

/** The `Link` header of an offset page (RFC 8288): first, prev, next and last, as references on the same path. */
export function pageLinks(url: string, { page, totalPages, more }: PageLinks): string | null {
  const last = totalPages === null ? null : Math.max(totalPages, 1)
  const targets: readonly (readonly [rel: string, page: number | null])[] = [
    ['first', 1],
    ['prev', page > 1 ? Math.min(page - 1, last ?? page - 1) : null],
    ['next', more ? page + 1 : null],
    ['last', last],
  ]
  const links = targets
    .filter(([, target]) => target !== null)
    .map(([rel, target]) => `<${withParameter(url, 'page', String(target))}>; rel="${rel}"`)
  return bounded(links.join(', '))
}

/** The `Link` header of a keyset page that another one follows. */
export function cursorLink(url: string, cursor: string): string | null {
  return bounded(`<${withParameter(url, 'cursor', cursor)}>; rel="next"`)
}

function bounded(header: string): string | null {
  return header.length > MAX_LENGTH ? null : header
}

/** The URL's path and query with one parameter replaced, all others as the client wrote them. */
function withParameter(url: string, name: string, value: string): string {
  const start = url.indexOf('?')
  const path = start < 0 ? url : url.slice(0, start)
  const others = (start < 0 ? '' : url.slice(start + 1))
    .split('&')
    .filter((part) => part !== '' && nameOf(part) !== name)
  const query = [...others, `${name}=${encodeURIComponent(value)}`].join('&')
  // The characters that would end the reference inside the header are never part of a valid URL.
  return `${path}?${query}`.replace(/[<>"\s\\^`{|}]/g, encodeURIComponent)
}

function nameOf(part: string): string {
  const name = part.split('=', 1)[0] ?? ''
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
