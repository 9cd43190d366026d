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

/** A tag's own text; quotes and weakness are no part of it: `W/"3"`, `"3"`, `W/3` and a bare `3` are all the tag 3. */
const TAG = /^(?:W\/)?(?:"([^"]*)"|([^"/]*))$/

/** The number that a tag is as a version, else its text; null for what is no tag. */
function opaque(tag: string): string | null {
  const [, quoted, bare] = TAG.exec(tag) ?? []
  const text = quoted ?? bare ?? null
  return text !== null && /^\d{1,19}$/.test(text) ? String(BigInt(text)) : text
}

/** Whether `If-None-Match` names this tag, in any of the forms that `If-Match` takes. */
export function isNamed(tag: string, header: string): boolean {
  const own = opaque(tag)
  const tags = header.split(',').map((each) => each.trim())
  return tags.includes('*') || (own !== null && tags.some((each) => each !== '' && opaque(each) === own))
}

/**
 * The versions that `If-Match` names (RFC 9110 section 13.1.1), or `*`; null without the header. Tags compare weakly, a
 * documented deviation. A tag that is no version is left out, so that it matches nothing.
 *
 * @throws Problem 400 for too many
 */
export function matchOf(header: string | undefined): Match | null {
  const tags = tagsOf('If-Match', header)
  if (tags === null) return null
  if (tags.includes('*')) return '*'
  return tags.flatMap((tag) => {
    const version = opaque(tag)
    return version !== null && /^\d{1,19}$/.test(version) && BigInt(version) <= MAX_VERSION ? [version] : []
  })
}
