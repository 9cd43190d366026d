// Replies to clients that have what they ask for.

import type { JsonSchema } from '../../types/openApi.js'
import { type Draft, SHARED } from './components.js'
import { type HeaderName, headersOf } from './headers.js'

/** The headers of lists. */
export const LISTED: readonly HeaderName[] = ['ETag', 'Link', 'X-Total-Count', 'Preference-Applied', 'Accept-Query']

const UNCHANGED = 'Nothing has changed since the client got it.'

/** 304 of a record. */
export function unchanged(draft: Draft): JsonSchema {
  return draft.components.refer('responses', 'NotModified', SHARED, () => ({
    description: UNCHANGED,
    ...headersOf(draft, ['ETag', 'Preference-Applied']),
  }))
}

/** 304 of a list. */
export function unchangedList(draft: Draft): JsonSchema {
  return { description: UNCHANGED, ...headersOf(draft, LISTED) }
}
