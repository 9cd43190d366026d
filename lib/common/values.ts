import type { FieldType, LongestTime } from '../../types/field.js'

/**
 * Parsers of values as text, for the query language, request bodies and codecs. A parser returns one canonical form, or
 * null for invalid text. Parsers never throw, and run in linear time.
 *
 * Dates and times use the extended format of ISO 8601, with real calendar days of the years 0001 to 9999. Basic format,
 * week and ordinal dates, a comma before the fraction, hour 24 and leap seconds are invalid.
 */

/** The types of numbers. */
export const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'decimal', 'float'])

const DAY = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3])(?::[0-5]\d)?)?)?$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?$/
const SCIENTIFIC = /^([+-]?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,4})$/
/** The maximum number of digits of a decimal that a JSON number keeps exactly. */
export const EXACT_DIGITS = 15
const LONE_SURROGATE = /\p{Surrogate}/u

export const FIRST_INSTANT: number = Date.parse('0001-01-01T00:00:00.000Z')
export const LAST_INSTANT: number = Date.parse('9999-12-31T23:59:59.999Z')
const DAY_LENGTH = 86_400_000

/** Whether every database stores the text: well-formed Unicode without NUL characters. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text)
}

/** Removes trailing blanks, which are the padding of a CHAR. */
export function trimBlanks(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === ' ') end -= 1
  return text.slice(0, end)
}

/** Whether a text has more than `max` code points. */
export function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max)
}

/** Parses a calendar date, `YYYY-MM-DD`. */
export function readDate(text: string): string | null {
  const match = DAY.exec(text)
  if (match === null) return null
  const [, year, month, day] = match
  return isCalendarDay(Number(year), Number(month), Number(day)) ? text : null
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  return year > 0 && month > 0 && month < 13 && day > 0 && day <= daysInMonth(year, month)
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/**
 * Parses an instant: a date, `T` or a blank, `HH:MM`, optional seconds with up to nine fractional digits (cut to
 * milliseconds), and an offset. The offset is `Z`, `±HH:MM` or `±HH`; without an offset the time is UTC. A date alone
 * is its first instant.
 */
export function readDateTime(text: string): Date | null {
  const match = DATE_TIME.exec(text)
  if (match === null) return null
  const [, day = '', minutes = '00:00', seconds = '00', fraction = '', offset = 'Z'] = match
  if (readDate(day) === null) return null
  const local = Date.parse(`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  const instant = local - parseOffset(offset)
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? new Date(instant) : null
}

function parseOffset(text: string): number {
  if (text.length === 1) return 0
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4))
  return (text.startsWith('-') ? -minutes : minutes) * 60_000
}

/**
 * Returns the instants of a day in UTC, from `start` to `end` (exclusive). The last day has no end, because databases
 * disagree on the order of the year 10000.
 */
export function daySpan(day: string): { readonly start: Date; readonly end: Date | null } {
  const start = Date.parse(`${day}T00:00:00.000Z`)
  const end = start + DAY_LENGTH
  return { start: new Date(start), end: end > LAST_INSTANT ? null : new Date(end) }
}

/** Parses a time of day, `HH:MM` or `HH:MM:SS`. Returns `HH:MM:SS`. */
export function readTime(text: string): string | null {
  const match = TIME.exec(text)
  return match === null ? null : `${match[1]}:${match[2]}:${match[3] ?? '00'}`
}

const LONG_TIME = /^(-?)(\d{2,3}):([0-5]\d)(?::([0-5]\d))?$/

/** Parses a time that may exceed a day or be negative, because some databases store such times. */
export function readLongTime(text: string, { hours: most, isSigned }: LongestTime): string | null {
  const match = LONG_TIME.exec(text)
  if (match === null) return null
  const [, sign = '', hours = '', minutes = '', seconds = '00'] = match
  const isWithin = Number(hours) < most || (Number(hours) === most && (most > 24 || minutes + seconds === '0000'))
  if (!isWithin || (sign !== '' && !isSigned)) return null
  const time = `${String(Number(hours)).padStart(2, '0')}:${minutes}:${seconds}`
  return time === '00:00:00' ? time : sign + time
}

/** Parses a UUID of any version in the 8-4-4-4-12 form. Returns it in lower case. */
export function readUuid(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null
}

/** Parses an integer of any size. The canonical form is digits with an optional minus, without leading zeros. */
export function readInteger(text: string): string | null {
  return text.includes('.') ? null : readDecimal(text)
}

/**
 * Parses a decimal of any size: an optional sign, digits, and optionally a point with digits. The canonical form has no
 * plus, leading zeros, trailing zeros after the point or negative zero. Equal numbers therefore are equal texts.
 */
export function readDecimal(text: string): string | null {
  const match = DECIMAL.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = ''] = match
  return formatDecimal(sign, whole, fraction)
}

/** Converts a finite number to a canonical decimal without an exponent. */
export function toDecimal(number: number): string {
  const text = String(number)
  return readDecimal(text) ?? readScientific(text) ?? text
}

/** Returns the number of digits of a decimal without leading zeros. */
export function countSignificantDigits(decimal: string): number {
  return decimal.replace(/^-?(?:0\.)?0*/, '').replace('.', '').length
}

/**
 * Parses a decimal in scientific notation (`1.5e-7`), as drivers and `String` write it. The exponent has at most four
 * digits.
 */
export function readScientific(text: string): string | null {
  const match = SCIENTIFIC.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = ''] = match
  const point = whole.length + Number(exponent)
  const digits = (whole + fraction).padStart(whole.length + fraction.length - Math.min(point, 0), '0')
  const at = Math.max(point, 0)
  return formatDecimal(sign, digits.slice(0, at).padEnd(at, '0') || '0', digits.slice(at))
}

function formatDecimal(sign: string, whole: string, fraction: string): string {
  let end = fraction.length
  while (end > 0 && fraction[end - 1] === '0') end -= 1
  const digits = whole.replace(/^0+(?=\d)/, '')
  if (end === 0) return sign === '-' && digits !== '0' ? `-${digits}` : digits
  return `${sign === '-' ? '-' : ''}${digits}.${fraction.slice(0, end)}`
}

/** Compares two canonical decimals. Returns a negative number, zero or a positive number, as for `sort`. */
export function compareDecimals(a: string, b: string): number {
  const negative = a.startsWith('-')
  if (negative !== b.startsWith('-')) return negative ? -1 : 1
  return negative ? compareMagnitudes(b.slice(1), a.slice(1)) : compareMagnitudes(a, b)
}

function compareMagnitudes(a: string, b: string): number {
  const [wholeA = '', fractionA = ''] = a.split('.')
  const [wholeB = '', fractionB = ''] = b.split('.')
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length
  // Texts of equal length sort like the numbers that they contain, and fractions of any length do so too.
  if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1
  if (fractionA === fractionB) return 0
  return fractionA < fractionB ? -1 : 1
}

/** Returns the double nearest to a canonical decimal divided by a positive integer. */
export function divideDecimal(decimal: string, divisor: bigint): number {
  const negative = decimal.startsWith('-')
  const [whole = '', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.')
  const numerator = BigInt(whole + fraction)
  const denominator = divisor * 10n ** BigInt(fraction.length)
  // The quotient has at least 64 bits and a sticky bit for the remainder, so that `Number` rounds it correctly.
  const shift = BigInt(Math.max(0, 66 + denominator.toString(2).length - numerator.toString(2).length))
  const scaled = numerator << shift
  const rest = scaled % denominator === 0n ? 0n : 1n
  const nearest = Number((scaled / denominator) * 2n + rest) / 2 ** (Number(shift) + 1)
  return negative && nearest !== 0 ? -nearest : nearest
}
