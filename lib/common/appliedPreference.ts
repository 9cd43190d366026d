import type { Reply } from '../../types/reply.js'

type Headers = Reply['headers']

const PREFERENCE_APPLIED = 'Preference-Applied'

/** Adds an applied preference to the headers of a reply (RFC 7240 section 3), and `Vary: Prefer` for caches. */
export function addAppliedPreference(headers: Headers, preference: string): Headers {
  const applied = headers[PREFERENCE_APPLIED] === undefined ? [preference] : [headers[PREFERENCE_APPLIED], preference]
  return { ...headers, Vary: 'Prefer', [PREFERENCE_APPLIED]: applied.join(', ') }
}
