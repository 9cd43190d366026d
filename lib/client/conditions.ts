import { headersOf } from './send.js'
import { etagOf } from './tags.js'
import type { CallOptions, ClientOptions } from './types.js'

type Settings = Pick<ClientOptions, 'headers' | 'versions' | 'idempotency'>

export function isRecord(target: unknown): target is object {
  return typeof target === 'object' && target !== null && !Array.isArray(target)
}

function isNamed(settings: Settings, options: CallOptions, header: string): boolean {
  return headersOf(settings.headers, options.headers).has(header)
}

/**
 * `If-Match` with the version of the record that was read, unless the call has one.
 *
 * @throws TypeError for a record without its version, where writes need it
 */
export function matching(settings: Settings, target: unknown, options: CallOptions): CallOptions {
  if (options.ifMatch !== undefined || isNamed(settings, options, 'If-Match') || !isRecord(target)) return {}
  const tag = etagOf(target)
  if (tag !== null) return { ifMatch: tag }
  if (settings.versions !== true) return {}
  throw new TypeError('The record has no version tag. Read it with get, add the tag with withTag, or pass { ifMatch }.')
}

/** An `Idempotency-Key`, if the client has the option and the call has none, so that a retry is not done again. */
export function once(settings: Settings, options: CallOptions): CallOptions {
  const isKeyless = options.idempotencyKey === undefined && !isNamed(settings, options, 'Idempotency-Key')
  return settings.idempotency === true && isKeyless ? { idempotencyKey: crypto.randomUUID() } : {}
}
