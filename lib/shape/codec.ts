import type { JsonValue, ValueType } from '../../types/field.js'
import { isoTextOf } from '../common/instant.js'
import {
  decimalOf,
  EXACT_DIGITS,
  FIRST_INSTANT,
  LAST_INSTANT,
  quotient,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readScientific,
  trimBlanks,
} from '../common/values.js'

/** How a column's values reach the decoder. */
export interface CodecOptions {
  /** JSON comes as text, as raw rows of SQLite have it. Where the driver has parsed it, a string is a JSON string. */
  readonly jsonAsText?: boolean
  /** Called when a stored value cannot be shown, which then is null. */
  readonly onHidden?: () => void
}

type Decoder = (raw: unknown) => JsonValue

/**
 * The function from a database value to its JSON, one for every driver: what sqlite3, mysql2, mariadb and pg return
 * for one stored value, and what an instance holds, decodes to one JSON value. It never throws. Numbers, texts and
 * enumerations that are no value of the type are shown as they are stored; what cannot be shown (NaN, the infinities, dates
 * that are none, broken documents) is null.
 */
export function decoderOf(valueType: ValueType, options: CodecOptions = {}): Decoder {
  const { onHidden } = options
  const decode = present(valueType, options)
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const value = decode(typeof raw === 'object' ? asJson(raw) : raw)
    // Null is a JSON document like any other.
    if (value === null && onHidden !== undefined && (valueType.type !== 'json' || raw !== 'null')) onHidden()
    return value
  }
}

/** What an object of a library or of the host says that it is in JSON: a URL, a moment, a decimal. */
function asJson(raw: object): unknown {
  if (raw instanceof Date || raw instanceof Uint8Array) return raw
  const toJson: unknown = Reflect.get(raw, 'toJSON')
  if (typeof toJson !== 'function') return raw
  try {
    return toJson.call(raw)
  } catch {
    return null
  }
}

function present(valueType: ValueType, options: CodecOptions): Decoder {
  switch (valueType.type) {
    case 'integer':
    case 'bigint':
      return integer
    case 'decimal':
      return valueType.wire === 'number' ? decimalNumber : decimalText(valueType.scale)
    case 'float':
      return valueType.single === true ? single : float
    case 'boolean':
      return valueType.loose === true ? looseBoolean : boolean
    case 'datetime':
      return dateTime
    case 'date':
      return date
    case 'time':
      return time
    case 'uuid':
      return (raw) => (typeof raw === 'string' ? raw.toLowerCase() : text(raw))
    case 'string':
      return valueType.padded === true ? unpadded : text
    case 'enum':
      return text
    case 'json':
      return options.jsonAsText === true ? jsonText : json
    case 'blob':
      return blob
  }
}

function text(raw: unknown): JsonValue {
  if (typeof raw === 'string') return raw
  // PostgreSQL keeps STRING.BINARY in a BYTEA.
  return raw instanceof Uint8Array ? bytes(raw).toString('utf8') : json(raw)
}

/** PostgreSQL gives a CHAR with the blanks that fill it up, MySQL without any at its end. */
function unpadded(raw: unknown): JsonValue {
  return typeof raw === 'string' ? trimBlanks(raw) : text(raw)
}

function integer(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'number':
      return Number.isSafeInteger(raw) || !Number.isInteger(raw) ? json(raw) : decimalOf(raw)
    case 'bigint':
      return whole(raw.toString())
    case 'string':
      return whole(raw)
    case 'boolean':
      // The mariadb driver takes TINYINT(1) for a boolean.
      return Number(raw)
    default:
      return json(raw)
  }
}

function whole(raw: string): JsonValue {
  const digits = readInteger(raw)
  if (digits === null) return raw
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

function float(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return json(raw)
  if (raw.trim() === '') return raw
  const number = Number(raw)
  if (Number.isFinite(number)) return number
  return notANumber(raw)
}

function notANumber(raw: unknown): JsonValue {
  return typeof raw === 'string' && /^(?:nan|[+-]?infinity)$/i.test(raw) ? null : json(raw)
}

const LARGEST_SINGLE = 3.4028234663852886e38

/** A float of four bytes arrives as the double that equals it: the shortest number that the column would hold so. */
function single(raw: unknown): JsonValue {
  const number = float(raw)
  if (typeof number !== 'number' || Math.fround(number) !== number) return number
  for (let digits = 1; digits < 10; digits++) {
    const shorter = Number(number.toPrecision(digits))
    if (Math.fround(shorter) === number && Math.abs(shorter) <= LARGEST_SINGLE) return shorter
  }
  return number
}

function decimalNumber(raw: unknown): JsonValue {
  if (typeof raw === 'number') return json(raw)
  const digits = decimalDigits(raw)
  return digits === null ? notANumber(raw) : Number(digits)
}

/**
 * Decimals as plain text. Declared ones have exactly their places, rounded half away from zero as the other databases
 * store them, so that SQLite's 5000 reads `5000.00` too; undeclared ones have no trailing zeros.
 */
function decimalText(scale: number | undefined): Decoder {
  return (raw) => {
    const digits = decimalDigits(raw)
    if (digits === null) return notANumber(raw)
    return scale === undefined ? digits : withScale(digits, scale)
  }
}

function decimalDigits(raw: unknown): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? decimalOf(raw) : null
  if (typeof raw === 'bigint') return raw.toString()
  return typeof raw === 'string' ? (readDecimal(raw) ?? readScientific(raw)) : null
}

function withScale(decimal: string, scale: number): string {
  const negative = decimal.startsWith('-')
  const [integral = '0', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.')
  let digits = integral + fraction.slice(0, scale).padEnd(scale, '0')
  if ((fraction[scale] ?? '0') >= '5') digits = (BigInt(digits) + 1n).toString().padStart(scale + 1, '0')
  const sign = negative && /[1-9]/.test(digits) ? '-' : ''
  const point = digits.length - scale
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Of a column of numbers. Texts, which SQLite takes all the same, are no booleans. */
function looseBoolean(raw: unknown): JsonValue {
  return typeof raw === 'string' && raw !== '1' && raw !== '0' ? null : boolean(raw)
}

function boolean(raw: unknown): JsonValue {
  switch (typeof raw) {
    case 'boolean':
      return raw
    case 'number':
    case 'bigint':
      return Number(raw) !== 0
    case 'string':
      return BOOLEANS.get(raw.toLowerCase()) ?? raw
    default:
      // BIT(1) is a buffer of one byte.
      return raw instanceof Uint8Array && raw.length === 1 ? raw[0] !== 0 : json(raw)
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['t', true],
  ['1', true],
  ['false', false],
  ['f', false],
  ['0', false],
])

// An instant in UTC as databases write it, on days that need no calendar: all but 29 February. Forty times as fast as parsing.
const UTC =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,6}))? ?\+00(?::00)?$/
const STORED_OFFSET = / ?([+-]\d\d):?(\d\d)?$/

function dateTime(raw: unknown): JsonValue {
  if (typeof raw === 'string') {
    const utc = UTC.exec(raw)
    if (utc === null) return storedInstant(raw)
    return `${raw.slice(0, 10)}T${raw.slice(11, 19)}.${(utc[1] ?? '').slice(0, 3).padEnd(3, '0')}Z`
  }
  if (raw instanceof Date) return instant(raw)
  const isNumber = typeof raw === 'number' && raw >= FIRST_INSTANT && raw <= LAST_INSTANT
  return isNumber ? instant(new Date(raw)) : null
}

/** Databases put a blank before the offset, and leave out its colon or its minutes. */
function storedInstant(raw: string): JsonValue {
  const extended =
    raw.length < 17 ? raw : raw.replace(STORED_OFFSET, (_, hours, minutes = '00') => `${hours}:${minutes}`)
  return readDateTime(extended)?.toISOString() ?? beyondYears(raw)
}

function instant(date: Date): JsonValue {
  return Number.isNaN(date.getTime()) ? null : isoTextOf(date)
}

function date(raw: unknown): JsonValue {
  if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? null : dayOf(raw)
  if (typeof raw !== 'string') return null
  return /^\d{4}-\d\d-\d\d(?:[T ](?!BC)|$)/.test(raw) ? readDate(raw.slice(0, 10)) : beyondYears(raw)
}

function dayOf(date: Date): string {
  const text = date.toISOString()
  return text.slice(0, text.indexOf('T'))
}

const BEYOND_YEARS = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?)?( BC)?$/

/** PostgreSQL's days and instants before the year 1 and after 9999, as ISO 8601 has them: 1 BC is the year 0. */
function beyondYears(raw: string): string | null {
  const [, digits, month, day, clock, hours = '+00', minutes = ':00', era] = BEYOND_YEARS.exec(raw) ?? []
  if (digits === undefined || (era === undefined && digits.length === 4)) return null
  const year = era === undefined ? Number(digits) : 1 - Number(digits)
  const sign = year < 0 ? '-' : '+'
  const expanded = `${sign}${String(Math.abs(year)).padStart(6, '0')}-${month}-${day}`
  const date = new Date(clock === undefined ? expanded : `${expanded}T${clock.slice(0, 12)}${hours}${minutes}`)
  if (Number.isNaN(date.getTime())) return null
  return clock === undefined ? dayOf(date) : date.toISOString()
}

function time(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return json(raw)
  const [whole] = /^-?\d{2,3}:\d\d:\d\d(?=[.,Z+-]|$)/.exec(raw) ?? []
  if (whole !== undefined) return whole
  return /^\d\d:\d\d$/.test(raw) ? `${raw}:00` : raw
}

function blob(raw: unknown): JsonValue {
  if (raw instanceof Uint8Array) return bytes(raw).toString('base64')
  return typeof raw === 'string' ? Buffer.from(raw, 'utf8').toString('base64') : json(raw)
}

function bytes(raw: Uint8Array): Buffer {
  return Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

function jsonText(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return json(raw)
  try {
    const value: unknown = JSON.parse(raw)
    return json(value)
  } catch {
    return null
  }
}

/**
 * Any value as JSON. Trees that JSON.stringify would change or refuse (dates, buffers and bigints inside arrays and
 * ranges) are copied; what nests too deeply to be walked is shown as null.
 */
function json(raw: unknown): JsonValue {
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
  if (raw instanceof Date) return instant(raw)
  if (raw instanceof Uint8Array) return bytes(raw).toString('base64')
  const said = asJson(raw)
  if (said !== raw) return plain(said)
  // fromEntries defines every name as an own property, `__proto__` included.
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, plain(value)]))
}

/** Sums of whole numbers are as these, of decimals exact at their scale: numbers as long as a JSON number has the digits. */
export function sumDecoder({ type, scale, wire }: ValueType): Decoder {
  if (type === 'float') return decoderOf({ type })
  if (type !== 'decimal') return decoderOf({ type: 'bigint' })
  const text = decoderOf({ type, wire: 'string', ...(scale === undefined ? {} : { scale }) })
  if (wire !== 'number') return text
  return (raw) => {
    const sum = text(raw)
    return typeof sum === 'string' && sum.replace(/\D/g, '').replace(/^0+/, '').length <= EXACT_DIGITS
      ? Number(sum)
      : sum
  }
}

/** Averages of exact numbers come as `sum/count`, and are rounded once. */
export function averageDecoder({ type }: ValueType): Decoder {
  if (type === 'float') return decoderOf({ type })
  return (raw) => {
    if (raw === null || raw === undefined) return null
    const [sum = '', count = ''] = String(raw).split('/')
    const digits = decimalDigits(sum)
    return digits === null ? notANumber(sum) : quotient(digits, BigInt(count))
  }
}
