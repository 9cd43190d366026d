import type { RequestHandler } from 'express'

/** What no key can be, whatever its type: no database keeps it in text. */
export const NO_KEY = '\0'

/**
 * The paths of a route that Express refuses before any handler runs, since it decodes parameters while it matches: the
 * same route by a pattern without parameters, for a layer in front of it. Null for a route without any.
 */
export function unreadable(path: string): { readonly pattern: RegExp; readonly handler: RequestHandler } | null {
  const words = path.split('/')
  const names = words.filter(isParameter).map((word) => word.slice(1))
  if (names.length === 0) return null
  const source = words.map((word) => (isParameter(word) ? '[^/]+' : word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
  const params = Object.fromEntries(names.map((name) => [name, NO_KEY]))
  return {
    // As Express matches by default: in any case, and with a slash at the end.
    pattern: new RegExp(`^(?=.*%)${source.join('/')}/?$`, 'i'),
    handler: (req, _res, next) => {
      if (decodes(req.path)) {
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

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
