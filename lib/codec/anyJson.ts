import type { JsonValue } from '../../types/field.js'
import { formatIsoDate } from '../common/instant.js'
import { readInteger } from '../common/values.js'

/**
 * Converts any value to JSON. Values that JSON.stringify would change or refuse (dates, buffers, bigints) are replaced
 * in a copy. A value that is nested too deeply becomes null.
 */
export function toJson(raw: unknown): JsonValue {
  try {
    return convertValue(raw)
  } catch {
    return null
  }
}

function convertValue(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw
    case 'number':
      return Number.isFinite(raw) ? raw : null
    case 'bigint':
      return integerToJson(raw.toString())
    case 'object':
      return raw === null ? null : convertObject(raw)
    default:
      return null
  }
}

function convertObject(raw: object): JsonValue {
  if (Array.isArray(raw)) return raw.map(convertValue)
  if (raw instanceof Date) return dateToJson(raw)
  if (raw instanceof Uint8Array) return toBuffer(raw).toString('base64')
  const converted = callToJson(raw)
  if (converted !== raw) return convertValue(converted)
  // `fromEntries` defines own properties for all names, `__proto__` included.
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, convertValue(value)]))
}

/** Returns the JSON form of an object with a `toJSON` method: a URL, a moment, a decimal. */
export function callToJson(raw: object): unknown {
  if (raw instanceof Date || raw instanceof Uint8Array) return raw
  const toJson: unknown = Reflect.get(raw, 'toJSON')
  if (typeof toJson !== 'function') return raw
  try {
    return toJson.call(raw)
  } catch {
    return null
  }
}

/** Converts digits to a number if it is exact in JSON. Other texts are unchanged. */
export function integerToJson(raw: string): string | number {
  const digits = readInteger(raw)
  if (digits === null) return raw
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

export function dateToJson(date: Date): JsonValue {
  return Number.isNaN(date.getTime()) ? null : formatIsoDate(date)
}

export function toBuffer(raw: Uint8Array): Buffer {
  return Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

export function textToJson(raw: unknown): JsonValue {
  if (typeof raw === 'string') return raw
  // PostgreSQL stores STRING.BINARY as BYTEA, which the driver returns as a buffer.
  return raw instanceof Uint8Array ? toBuffer(raw).toString('utf8') : toJson(raw)
}
