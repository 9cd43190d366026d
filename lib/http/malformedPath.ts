import type { RequestHandler } from 'express'

/** A key that no record has, because databases do not store NUL in text. */
export const IMPOSSIBLE_KEY = '\0'

/**
 * Creates the handler for malformed paths of a route. Express decodes parameters while it matches, and rejects
 * malformed paths before any handler runs. Therefore a layer in front of the route matches a pattern without
 * parameters. Null for a route without parameters.
 */
export function createMalformedPathHandler(
  path: string,
): { readonly pattern: RegExp; readonly handler: RequestHandler } | null {
  const words = path.split('/')
  const names = words.filter(isParameter).map((word) => word.slice(1))
  if (names.length === 0) return null
  const source = words.map((word) => (isParameter(word) ? '[^/]+' : word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
  const params = Object.fromEntries(names.map((name) => [name, IMPOSSIBLE_KEY]))
  return {
    // Matches like Express by default: case-insensitive, with an optional trailing slash.
    pattern: new RegExp(`^(?=.*%)${source.join('/')}/?$`, 'i'),
    handler: (req, _res, next) => {
      if (isDecodable(req.path)) {
        next('route')
        return
      }
      Object.assign(req.params, params)
      next()
    },
  }
}

function isParameter(word: string): boolean {
  return word.startsWith(':')
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
