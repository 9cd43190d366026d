import type { JsonSchema } from '../../types/openApi.js'
import { type Draft, SHARED } from './components.js'

const TEXT: JsonSchema = { type: 'string' }

export type HeaderName =
  | 'ETag'
  | 'Location'
  | 'Link'
  | 'X-Total-Count'
  | 'Preference-Applied'
  | 'Accept-Query'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'Idempotency-Replayed'

/** The headers of replies that clients read. */
const HEADERS: Readonly<Record<HeaderName, JsonSchema>> = {
  ETag: { description: 'The version of what the reply shows.', schema: TEXT },
  Location: {
    description: 'The path of the new record. Absent where the database makes the key and does not tell it.',
    schema: { ...TEXT, format: 'uri-reference' },
  },
  Link: {
    description: 'The other pages (RFC 8288): `first`, `prev`, `next` and `last`, as far as there are any.',
    schema: TEXT,
  },
  'X-Total-Count': { description: 'How many records match.', schema: { type: 'integer', minimum: 0 } },
  'Preference-Applied': { description: 'Which preference of `Prefer` was honoured.', schema: TEXT },
  'Accept-Query': { description: 'What a `QUERY` for the same may have in its body.', schema: TEXT },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': { description: 'How to say who is asking.', schema: TEXT },
  'Idempotency-Replayed': {
    description: '`true` where this was done before, under the same `Idempotency-Key`, and not again.',
    schema: { type: 'string', enum: ['true'] },
  },
}

/** A reference to a header of replies. */
export function header({ components }: Draft, name: HeaderName): JsonSchema {
  return components.refer('headers', name, SHARED, () => HEADERS[name])
}

/** The member `headers` of a reply; none without any. */
export function headersOf(draft: Draft, names: readonly HeaderName[]): JsonSchema {
  if (names.length === 0) return {}
  return { headers: Object.fromEntries(names.map((name) => [name, header(draft, name)])) }
}

/** Replies with one header more. */
export function withHeader(
  draft: Draft,
  replies: Readonly<Record<number, JsonSchema>>,
  name: HeaderName,
): Readonly<Record<string, JsonSchema>> {
  const entries = Object.entries(replies).map(([status, reply]) => {
    return [status, { ...reply, headers: { ...Object(reply.headers), [name]: header(draft, name) } }]
  })
  return Object.fromEntries(entries)
}
