/**
 * Maximum length of a `Link` header, in characters. Longer headers are omitted, because intermediaries reject long
 * headers.
 */
const MAX_LENGTH = 4096

interface PageLinks {
  readonly page: number
  /** null without a total. In this case there is no link to the last page. */
  readonly totalPages: number | null
  readonly more: boolean
}

/** Returns the `Link` header of a numbered page (RFC 8288): first, prev, next and last, as relative references. */
export function pageLinks(url: string, { page, totalPages, more }: PageLinks): string | null {
  const last = totalPages === null ? null : Math.max(totalPages, 1)
  const before = urlUpToParameter(removeParameters(url, ['page']), 'page')
  const link = (target: number, rel: string): string => `<${before}${target}>; rel="${rel}"`
  const links = [link(1, 'first')]
  if (page > 1) links.push(link(Math.min(page - 1, last ?? page), 'prev'))
  if (more) links.push(link(page + 1, 'next'))
  if (last !== null) links.push(link(last, 'last'))
  return omitIfLong(links.join(', '))
}

/** Returns the `Link` header of a cursor page that is not the last page. */
export function cursorLink(url: string, cursor: string): string | null {
  const before = urlUpToParameter(removeParameters(url, ['cursor']), 'cursor')
  return omitIfLong(`<${before}${encodeURIComponent(cursor)}>; rel="next"`)
}

/** Returns the `Link` header of a page by `after` or `before`. */
export function seekLinks(url: string, { nextCursor, previousCursor }: Cursors): string | null {
  const rest = removeParameters(url, ['after', 'before'])
  const links = [
    ...(nextCursor === null
      ? []
      : [`<${urlUpToParameter(rest, 'after')}${encodeURIComponent(nextCursor)}>; rel="next"`]),
    ...(previousCursor === null
      ? []
      : [`<${urlUpToParameter(rest, 'before')}${encodeURIComponent(previousCursor)}>; rel="prev"`]),
  ]
  return links.length === 0 ? null : omitIfLong(links.join(', '))
}

export interface Cursors {
  readonly nextCursor: string | null
  readonly previousCursor: string | null
}

function omitIfLong(header: string): string | null {
  return header.length > MAX_LENGTH ? null : header
}

/** Appends a parameter without its value to a URL from `removeParameters`. Other parameters keep their spelling. */
function urlUpToParameter(others: string, name: string): string {
  const isFirst = others.indexOf('?') === others.length - 1
  // Characters that would end the reference within the header are encoded. A valid URL does not contain these
  // characters.
  return `${others}${isFirst ? '' : '&'}${name}=`.replace(/[<>"\s\\^`{|}]/g, encodeURIComponent)
}

/** Returns the URL's path and query without some parameters. The result always has a question mark. */
function removeParameters(url: string, names: readonly string[]): string {
  const start = url.indexOf('?')
  if (start < 0) return `${url}?`
  const others = url
    .slice(start + 1)
    .split('&')
    .filter((part) => part !== '' && !names.includes(parameterNameOf(part)))
  return url.slice(0, start + 1) + others.join('&')
}

function parameterNameOf(part: string): string {
  const equals = part.indexOf('=')
  const name = equals < 0 ? part : part.slice(0, equals)
  try {
    // A `+` for a blank is not decoded, because no searched parameter name contains a blank.
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
