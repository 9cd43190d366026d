import { etagOf } from './entityTags.js'
import { mergeHeaders } from './send.js'
import type { CallOptions, ClientOptions } from './types.js'

type Settings = Pick<ClientOptions, 'headers' | 'versions' | 'idempotency'>

export function isRecord(target: unknown): target is object {
  return typeof target === 'object' && target !== null && !Array.isArray(target)
}

function hasHeader(settings: Settings, options: CallOptions, header: string): boolean {
  return mergeHeaders(settings.headers, options.headers).has(header)
}

/**
 * Adds `If-Match` with the version of the record that was read, unless the call has an `If-Match` of its own.
 *
 * @throws TypeError for a record without a version, if writes of the resource require a version
 */
export function addIfMatch(settings: Settings, target: unknown, options: CallOptions): CallOptions {
  if (options.ifMatch !== undefined || hasHeader(settings, options, 'If-Match') || !isRecord(target)) return {}
  const tag = etagOf(target)
  if (tag !== null) return { ifMatch: tag }
  if (settings.versions !== true) return {}
  throw new TypeError('The record has no version tag. Read it with get, add the tag with withTag, or pass { ifMatch }.')
}

/**
 * Adds an `Idempotency-Key`, if the client has the option and the call has no key. The server executes a retried
 * request once.
 */
export function addIdempotencyKey(settings: Settings, options: CallOptions): CallOptions {
  const isKeyless = options.idempotencyKey === undefined && !hasHeader(settings, options, 'Idempotency-Key')
  return settings.idempotency === true && isKeyless ? { idempotencyKey: crypto.randomUUID() } : {}
}
