import type { Match } from '../../types/intent.js'
import { problem } from '../common/problem.js'
import { versionInTag } from '../common/version.js'

const MAX_VERSION = 2n ** 63n - 1n

/** The maximum number of tags in a header, because the database compares each tag. */
const MAX_TAGS = 50

/**
 * Splits a conditional header into its tags; null without the header.
 *
 * @throws Problem 400 for too many tags
 */
export function readTags(name: 'If-Match' | 'If-None-Match', header: string | undefined): readonly string[] | null {
  if (header === undefined) return null
  const tags = header.split(',').map((tag) => tag.trim())
  if (tags.length <= MAX_TAGS) return tags
  throw problem('bad-request', { detail: `${name} has more tags than the limit of ${MAX_TAGS}.` })
}

/** The form of a tag, with or without quotes and weakness: `W/"3"`, `"3"`, `W/3` and `3` are the tag 3. */
const TAG = /^(?:W\/)?(?:"([^"]*)"|([^"/]*))$/

/** Returns a tag's version number without leading zeros, or its text; null for a malformed tag. */
function parseTag(tag: string): string | null {
  const [, quoted, bare] = TAG.exec(tag) ?? []
  const text = quoted ?? bare ?? null
  return text !== null && /^\d{1,19}$/.test(text) ? String(BigInt(text)) : text
}

/** Whether `If-None-Match` contains a tag, in any form that `If-Match` accepts. */
export function hasTag(tag: string, header: string): boolean {
  const own = parseTag(tag)
  const tags = header.split(',').map((each) => each.trim())
  return tags.includes('*') || (own !== null && tags.some((each) => each !== '' && parseTag(each) === own))
}

/**
 * Parses the versions in `If-Match` (RFC 9110 section 13.1.1), or `*`; null without the header. Unlike in the RFC, tags
 * are compared weakly, as documented. Only the version in a tag counts. A tag without a version matches nothing.
 *
 * @throws Problem 400 for too many tags
 */
export function parseMatch(header: string | undefined): Match | null {
  const tags = readTags('If-Match', header)
  if (tags === null) return null
  if (tags.includes('*')) return '*'
  return tags.flatMap((tag) => {
    const version = versionInTag(parseTag(tag) ?? '')
    return version !== null && BigInt(version) <= MAX_VERSION ? [String(BigInt(version))] : []
  })
}
