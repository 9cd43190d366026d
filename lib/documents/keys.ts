import type { JsonSchema } from '../../types/openApi.js'
import { replyOf } from './replies.js'
import type { Subject } from './subjects.js'

/** What a key of several attributes is. */
export const PARTS = 'The parts, percent-encoded and joined by `~`.'

/** The key as a value: in paths, bulk requests and replies. */
export function keyOf({ resource: { key, keys } }: Subject): JsonSchema {
  return keys.length === 1 ? replyOf(key.valueType) : { type: 'string', description: PARTS }
}

/** An array of keys, in requests no more than these. */
export function keysOf(subject: Subject, most: number | null): JsonSchema {
  return { type: 'array', items: keyOf(subject), ...(most === null ? {} : { maxItems: most }) }
}
