import type { FilterValue, JsonValue, LongestTime, ValueType } from '../../types/field.js'
import type { JsonSchema } from '../../types/openApi.js'
import {
  daySpan,
  FIRST_INSTANT,
  LAST_INSTANT,
  readDate,
  readDateTime,
  readLongTime,
  readTime,
} from '../common/values.js'
import { dateToJson, toJson } from './anyJson.js'
import { type Codec, createTextReader, toFilterValue } from './codec.js'
import { TEXT } from './schema.js'

// A calendar day of the years 0001 to 9999, with leap years.
const DAY =
  '(?!0000)(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)'
const MINUTES = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const INSTANT = `^${DAY}(?:[Tt ]${MINUTES}(?::[0-5][0-9](?:\\.[0-9]{1,9})?)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::[0-5][0-9])?)?)?$`
const DATE: JsonSchema = { type: 'string', format: 'date' }

export const datetime: Codec = {
  createBodyReader: ({ valueType: { scale } }) =>
    createTextReader(scale === 0 ? readWholeSeconds : readDateTime, 'date-time'),
  readText: readInstantFilter,
  readKey: (text) => (readDateTime(text)?.toISOString() === text ? text : null),
  createDecoder: () => decodeInstant,
  noun: () => 'a date-time (ISO 8601)',
  schemas: {
    reply: ({ hasAnyYear }) => withExtendedYears({ type: 'string', format: 'date-time' }, hasAnyYear, 'T.*Z'),
    body: () => ({
      type: 'string',
      pattern: INSTANT,
      description: 'An ISO 8601 date-time of the years 0001 to 9999. Without an offset it is in UTC.',
      examples: ['2026-01-31T08:30:00Z'],
    }),
    query: { type: 'string', description: 'An ISO 8601 date-time or date.' },
  },
  example: () => '2026-01-31',
}

export const date: Codec = {
  createBodyReader: () => createTextReader(readDate, 'date'),
  readText: (text) => toFilterValue(readDate(text)),
  createDecoder: () => decodeDay,
  noun: () => 'a date (YYYY-MM-DD)',
  schemas: {
    reply: ({ hasAnyYear }) => withExtendedYears(DATE, hasAnyYear, ''),
    body: () => ({ ...DATE, pattern: `^${DAY}$` }),
    query: DATE,
  },
  example: () => '2026-01-31',
}

/** Parses an instant and drops its milliseconds, as a column of whole seconds does. */
function readWholeSeconds(text: string): Date | null {
  const instant = readDateTime(text)
  instant?.setUTCMilliseconds(0)
  return instant
}

function readInstantFilter(text: string): FilterValue | null {
  const day = readDate(text)
  if (day !== null) return { kind: 'day', ...daySpan(day) }
  return toFilterValue(readDateTime(text))
}

// An instant in UTC as databases write it, except on 29 February, which needs a calendar. The pattern is forty times
// faster than parsing.
const UTC =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d{1,6}))? ?\+00(?::00)?$/
const STORED_OFFSET = / ?([+-]\d\d):?(\d\d)?$/

function decodeInstant(raw: unknown): JsonValue {
  if (typeof raw === 'string') {
    const utc = UTC.exec(raw)
    if (utc === null) return decodeInstantText(raw)
    return `${raw.slice(0, 10)}T${raw.slice(11, 19)}.${(utc[1] ?? '').slice(0, 3).padEnd(3, '0')}Z`
  }
  if (raw instanceof Date) return dateToJson(raw)
  const isNumber = typeof raw === 'number' && raw >= FIRST_INSTANT && raw <= LAST_INSTANT
  return isNumber ? dateToJson(new Date(raw)) : null
}

/**
 * Decodes an instant that is not in UTC. Databases write a blank before the offset, and may omit its colon or minutes.
 */
function decodeInstantText(raw: string): JsonValue {
  const extended =
    raw.length < 17 ? raw : raw.replace(STORED_OFFSET, (_, hours, minutes = '00') => `${hours}:${minutes}`)
  return readDateTime(extended)?.toISOString() ?? parseExtendedYear(raw)
}

function decodeDay(raw: unknown): JsonValue {
  if (raw instanceof Date) return Number.isNaN(raw.getTime()) ? null : dayOf(raw)
  if (typeof raw !== 'string') return null
  return /^\d{4}-\d\d-\d\d(?:[T ](?!BC)|$)/.test(raw) ? readDate(raw.slice(0, 10)) : parseExtendedYear(raw)
}

function dayOf(date: Date): string {
  const text = date.toISOString()
  return text.slice(0, text.indexOf('T'))
}

const EXTENDED_YEAR = /^(\d{4,6})-(\d\d)-(\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:\d\d)?)?)?( BC)?$/

/** Converts PostgreSQL's days and instants outside the years 1 to 9999 to ISO 8601. The year 1 BC is the year 0. */
function parseExtendedYear(raw: string): string | null {
  const [, digits, month, day, timeOfDay, hours = '+00', minutes = ':00', era] = EXTENDED_YEAR.exec(raw) ?? []
  if (digits === undefined || (era === undefined && digits.length === 4)) return null
  const year = era === undefined ? Number(digits) : 1 - Number(digits)
  const sign = year < 0 ? '-' : '+'
  const expanded = `${sign}${String(Math.abs(year)).padStart(6, '0')}-${month}-${day}`
  const date = new Date(timeOfDay === undefined ? expanded : `${expanded}T${timeOfDay.slice(0, 12)}${hours}${minutes}`)
  if (Number.isNaN(date.getTime())) return null
  return timeOfDay === undefined ? dayOf(date) : date.toISOString()
}

/** Extends a schema by the expanded form of ISO 8601, for years outside 1 to 9999. */
function withExtendedYears(usual: JsonSchema, anyYear: boolean | undefined, timePart: string): JsonSchema {
  const expanded = { type: 'string', pattern: `^[+-][0-9]{6}-[0-9]{2}-[0-9]{2}${timePart}$` }
  return anyYear === true ? { anyOf: [usual, expanded] } : usual
}

export const time: Codec = {
  createBodyReader: ({ valueType }) => createTextReader(readerOf(valueType), 'time'),
  readText: (text, valueType) => toFilterValue(readerOf(valueType)(text)),
  createDecoder: () => decodeTime,
  noun: () => 'a time (HH:MM:SS)',
  schemas: {
    reply: ({ longestTime }) =>
      timeSchema(`^${longestTime?.isSigned === true ? '-?[0-9]{2,3}' : '[0-9]{2}'}:[0-9]{2}:[0-9]{2}$`),
    body: ({ valueType: { longestTime } }) => timeSchema(timePattern(longestTime)),
    query: TEXT,
  },
  example: () => '08:30:00',
}

function readerOf({ longestTime }: ValueType): (text: string) => string | null {
  return longestTime === undefined ? readTime : (text) => readLongTime(text, longestTime)
}

function decodeTime(raw: unknown): JsonValue {
  if (typeof raw !== 'string') return toJson(raw)
  const [whole] = /^-?\d{2,3}:\d\d:\d\d(?=[.,Z+-]|$)/.exec(raw) ?? []
  if (whole !== undefined) return whole
  return /^\d\d:\d\d$/.test(raw) ? `${raw}:00` : raw
}

function timeSchema(pattern: string): JsonSchema {
  return { type: 'string', pattern, examples: ['08:30:00'] }
}

function timePattern(longest: LongestTime | undefined): string {
  const usual = `${MINUTES}(?::[0-5][0-9])?`
  if (longest === undefined) return `^${usual}$`
  if (!longest.isSigned) return `^(?:${usual}|24:00(?::00)?)$`
  return '^-?(?:[0-9]{2}|[0-7][0-9]{2}|8(?:[0-2][0-9]|3[0-8])):[0-5][0-9](?::[0-5][0-9])?$'
}
