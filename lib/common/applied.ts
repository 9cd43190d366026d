import type { Reply } from '../../types/reply.js'

type Headers = Reply['headers']

const APPLIED = 'Preference-Applied'

/** The headers of a reply with one more applied preference (RFC 7240 section 3), and `Vary: Prefer` for caches. */
export function withPreference(headers: Headers, preference: string): Headers {
  const applied = headers[APPLIED] === undefined ? [preference] : [headers[APPLIED], preference]
  return { ...headers, Vary: 'Prefer', [APPLIED]: applied.join(', ') }
}
