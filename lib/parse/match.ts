import type { Match } from '../../types/intent.js'

const MAX_VERSION = 2n ** 63n - 1n

/**
 * The versions that `If-Match` names (RFC 9110 section 13.1.1), or `*`; null without the header. Tags compare weakly, a
 * documented deviation: `W/"3"`, `"3"` and a bare `3` are all version 3. A tag that is no version is left out, so that it
 * matches nothing.
 */
export function matchOf(header: string | undefined): Match | null {
  if (header === undefined) return null
  const tags = header.split(',').map((tag) => tag.trim())
  if (tags.includes('*')) return '*'
  return tags.flatMap((tag) => {
    const digits = /^(?:W\/)?"(\d{1,19})"$|^(\d{1,19})$/.exec(tag)
    const version = digits?.[1] ?? digits?.[2]
    return version !== undefined && BigInt(version) <= MAX_VERSION ? [String(BigInt(version))] : []
  })
}
