import type { Field, JsonValue, Value, ValueType } from '../../types/field.js'
import type { Fault, MessageCode, Told } from '../../types/messages.js'
import { fault } from '../common/messages.js'
import {
  compareDecimals,
  decimalOf,
  EXACT_DIGITS,
  isStorableText,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readLongTime,
  readTime,
  readUuid,
  significantDigits,
} from '../common/values.js'
import { decimalBounds } from './bounds.js'
import { NOT_STORABLE, text } from './text.js'

/** A JSON value read for a type, or the messages that say why it is none. */
export type Reading = { readonly value: Value } | { readonly faults: readonly Told[] }

export type Reader = (raw: unknown) => Reading

/** MariaDB's JSON_VALID, which guards its JSON columns, refuses what is nested deeper. */
const JSON_DEPTH = 31
const INEXACT = fault('digits')
const LARGEST_SAFE = String(Number.MAX_SAFE_INTEGER)

function faulty(...faults: readonly Told[]): Reading {
  return { faults }
}

function read(value: Value | null, otherwise: Told): Reading {
  return value === null ? { faults: [otherwise] } : { value }
}

/** The reader of a type that joi has none for; null for the types that joi reads by itself. */
export function readerOf(field: Field): Reader | null {
  switch (field.valueType.type) {
    case 'string':
      return text(field)
    case 'bigint':
      return bigint(field)
    case 'decimal':
      return decimal(field)
    case 'datetime':
      return fromText(readDateTime, 'date-time')
    case 'date':
      return fromText(readDate, 'date')
    case 'time':
      return fromText(timeReader(field.valueType), 'time')
    case 'uuid':
      return fromText(readUuid, 'uuid')
    case 'blob':
      return blob(field.valueType.maxLength)
    case 'json':
      return json(field.valueType)
    default:
      return null
  }
}

function timeReader({ longest }: ValueType): (text: string) => string | null {
  return longest === undefined ? readTime : (text) => readLongTime(text, longest)
}

function fromText(reader: (text: string) => Value | null, otherwise: MessageCode): Reader {
  const none = fault(otherwise)
  return (raw) => read(typeof raw === 'string' ? reader(raw) : null, none)
}

/**
 * A safe JSON integer; beyond the safe range its digits in a string, as responses write it. A JSON number out there
 * has been rounded already.
 */
function bigint(field: Field): Reader {
  const bounds = decimalBounds(field.valueType, field.rules)
  return (raw) => {
    const digits = typeof raw === 'number' ? wholeNumber(raw) : unsafeDigits(raw)
    if (digits === null) return faulty(fault('integer'))
    if (bounds.min !== undefined && compareDecimals(digits, bounds.min) < 0) return faulty(bounds.tooLow)
    if (bounds.max !== undefined && compareDecimals(digits, bounds.max) > 0) return faulty(bounds.tooHigh)
    return typeof raw === 'number' && !Number.isSafeInteger(raw) ? faulty(INEXACT) : { value: digits }
  }
}

function wholeNumber(raw: number): string | null {
  return Number.isInteger(raw) ? decimalOf(raw) : null
}

function unsafeDigits(raw: unknown): string | null {
  const digits = typeof raw === 'string' ? readInteger(raw) : null
  // Responses write one form only: no sign, no zeros in front, and no string where a number will do.
  if (digits === null || digits !== raw) return null
  return compareDecimals(digits.replace('-', ''), LARGEST_SAFE) > 0 ? digits : null
}

/** A finite JSON number or, where responses have text, a decimal in a string. */
function decimal(field: Field): Reader {
  const { wire, scale } = field.valueType
  const bounds = decimalBounds(field.valueType, field.rules)
  const places = fault('scale', { scale: scale ?? 0 })
  const otherwise = fault(wire === 'string' ? 'decimal' : 'number')
  return (raw) => {
    const digits = decimalDigits(raw, wire === 'string')
    if (digits === null) return faulty(otherwise)
    if (wire === 'string' && typeof raw === 'number' && significantDigits(digits) > EXACT_DIGITS) return faulty(INEXACT)
    const faults: Told[] = []
    if (scale !== undefined && (digits.split('.')[1] ?? '').length > scale) faults.push(places)
    if (bounds.min !== undefined && compareDecimals(digits, bounds.min) < 0) faults.push(bounds.tooLow)
    if (bounds.max !== undefined && compareDecimals(digits, bounds.max) > 0) faults.push(bounds.tooHigh)
    return faults.length === 0 ? { value: digits } : { faults }
  }
}

function decimalDigits(raw: unknown, isText: boolean): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? decimalOf(raw) : null
  return isText && typeof raw === 'string' ? readDecimal(raw) : null
}

/** Base64 as RFC 4648 section 4 has it, padding included; only the canonical text of some bytes is one. */
function blob(maxLength: number | undefined): Reader {
  return (raw) => {
    const bytes = typeof raw === 'string' ? Buffer.from(raw, 'base64') : null
    if (bytes === null || bytes.toString('base64') !== raw) return faulty(fault('base64'))
    const fits = maxLength === undefined || bytes.length <= maxLength
    return fits ? { value: bytes } : faulty(fault('max-bytes', { max: maxLength }))
  }
}

/** Null is what nullable fields allow before they ask; here it is no value, as for every other type. */
function json({ form, items }: ValueType): Reader {
  return (raw) => {
    const wrong = jsonFault(raw, JSON_DEPTH) ?? formFault(raw, form) ?? itemFault(raw, items)
    return wrong === null && isJson(raw) ? { value: raw } : faulty(wrong ?? fault('json'))
  }
}

/** What Sequelize stumbles over when it writes an ARRAY, a RANGE or a GEOMETRY. What is in them, PostgreSQL judges. */
function formFault(raw: unknown, form: ValueType['form']): Fault | null {
  if (form === undefined) return null
  if (form === 'text') return typeof raw === 'string' ? null : fault('string')
  if (form === 'geometry') return isGeometry(raw) ? null : fault('geometry')
  if (!Array.isArray(raw)) return fault('array')
  return form === 'range' && raw.length !== 0 && raw.length !== 2 ? fault('bounds') : null
}

/** The first fault of an item of an array, whose items are read as those of a column of their type. */
function itemFault(raw: unknown, items: ValueType['items']): Told | null {
  if (items === undefined || raw === null) return null
  if (Array.isArray(raw)) return raw.map((item) => itemFault(item, items)).find((wrong) => wrong !== null) ?? null
  const reading = ITEMS[items](raw)
  return 'faults' in reading ? (reading.faults[0] ?? null) : null
}

const ITEMS: Readonly<Record<NonNullable<ValueType['items']>, Reader>> = {
  blob: blob(undefined),
  datetime: fromText(readDateTime, 'date-time'),
  date: fromText(readDate, 'date'),
}

/** How deep positions are nested in the coordinates of a geometry (RFC 7946 section 3.1). */
const POSITIONS: ReadonlyMap<unknown, number> = new Map([
  ['Point', 0],
  ['MultiPoint', 1],
  ['LineString', 1],
  ['MultiLineString', 2],
  ['Polygon', 2],
  ['MultiPolygon', 3],
])

function isGeometry(raw: unknown): boolean {
  if (typeof raw !== 'object' || raw === null) return false
  const { type, coordinates, geometries }: { type?: unknown; coordinates?: unknown; geometries?: unknown } = raw
  if (type === 'GeometryCollection') return Array.isArray(geometries) && geometries.every(isGeometry)
  const depth = POSITIONS.get(type)
  return depth !== undefined && hasPositions(coordinates, depth)
}

function hasPositions(coordinates: unknown, depth: number): boolean {
  if (!Array.isArray(coordinates)) return false
  if (depth > 0) return coordinates.every((each) => hasPositions(each, depth - 1))
  return coordinates.length >= 2 && coordinates.every((each) => typeof each === 'number')
}

/** The body came out of a JSON parser, so that a look at the top tells. */
function isJson(raw: unknown): raw is JsonValue {
  return raw !== null && ['string', 'number', 'boolean', 'object'].includes(typeof raw)
}

function jsonFault(value: unknown, levels: number): Fault | null {
  if (typeof value === 'string') return isStorableText(value) ? null : NOT_STORABLE
  // JSON.parse takes 1e400 for infinity, and JSON.stringify that for null.
  if (typeof value === 'number') return Number.isFinite(value) ? null : fault('json-finite')
  if (typeof value !== 'object' || value === null) return null
  if (levels === 0) return fault('json-depth', { levels: JSON_DEPTH })
  if (!Array.isArray(value) && !Object.keys(value).every(isStorableText)) return NOT_STORABLE
  for (const item of Object.values(value)) {
    const wrong = jsonFault(item, levels - 1)
    if (wrong !== null) return wrong
  }
  return null
}
