import type { Match } from '../../types/intent.js'
import { problem } from '../common/problem.js'

const MAX_VERSION = 2n ** 63n - 1n

/** No client knows more versions of a record than this; the database would be asked for each. */
const MAX_TAGS = 50

/**
 * The tags of a conditional header, as they are written; null without the header.
 *
 * @throws Problem 400 for more than anybody needs
 */
export function tagsOf(name: 'If-Match' | 'If-None-Match', header: string | undefined): readonly string[] | null {
  if (header === undefined) return null
  const tags = header.split(',').map((tag) => tag.trim())
  if (tags.length <= MAX_TAGS) return tags
  throw problem('bad-request', { detail: `${name} has more tags than the limit of ${MAX_TAGS}.` })
}

/**
 * The versions that `If-Match` names (RFC 9110 section 13.1.1), or `*`; null without the header. Tags compare weakly, a
 * documented deviation: `W/"3"`, `"3"` and a bare `3` are all version 3. A tag that is no version is left out, so that it
 * matches nothing.
 *
 * @throws Problem 400 for too many
 */
export function matchOf(header: string | undefined): Match | null {
  const tags = tagsOf('If-Match', header)
  if (tags === null) return null
  if (tags.includes('*')) return '*'
  return tags.flatMap((tag) => {
    const digits = /^(?:W\/)?"(\d{1,19})"$|^(\d{1,19})$/.exec(tag)
    const version = digits?.[1] ?? digits?.[2]
    return version !== undefined && BigInt(version) <= MAX_VERSION ? [String(BigInt(version))] : []
  })
}
