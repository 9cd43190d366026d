import type { JsonValue } from '../../types/field.js'
import { isoTextOf } from '../common/instant.js'
import { readInteger } from '../common/values.js'

/**
 * Converts any value to JSON. Trees with values that JSON.stringify would change or refuse (dates, buffers, bigints)
 * are copied. A value that is nested too deeply becomes null.
 */
export function jsonOf(raw: unknown): JsonValue {
  try {
    return plain(raw)
  } catch {
    return null
  }
}

function plain(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw
    case 'number':
      return Number.isFinite(raw) ? raw : null
    case 'bigint':
      return whole(raw.toString())
    case 'object':
      return raw === null ? null : tree(raw)
    default:
      return null
  }
}

function tree(raw: object): JsonValue {
  if (Array.isArray(raw)) return raw.map(plain)
  if (raw instanceof Date) return instantJson(raw)
  if (raw instanceof Uint8Array) return bytesOf(raw).toString('base64')
  const said = ownJson(raw)
  if (said !== raw) return plain(said)
  // fromEntries defines own properties for all names, including `__proto__`.
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, plain(value)]))
}

/** The JSON form of an object with a `toJSON` method: a URL, a moment, a decimal. */
export function ownJson(raw: object): unknown {
  if (raw instanceof Date || raw instanceof Uint8Array) return raw
  const toJson: unknown = Reflect.get(raw, 'toJSON')
  if (typeof toJson !== 'function') return raw
  try {
    return toJson.call(raw)
  } catch {
    return null
  }
}

/** Digits as a number if it is exact in JSON. Other texts are unchanged. */
export function whole(raw: string): string | number {
  const digits = readInteger(raw)
  if (digits === null) return raw
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

export function instantJson(date: Date): JsonValue {
  return Number.isNaN(date.getTime()) ? null : isoTextOf(date)
}

export function bytesOf(raw: Uint8Array): Buffer {
  return Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

export function textJson(raw: unknown): JsonValue {
  if (typeof raw === 'string') return raw
  // PostgreSQL stores STRING.BINARY as BYTEA.
  return raw instanceof Uint8Array ? bytesOf(raw).toString('utf8') : jsonOf(raw)
}
