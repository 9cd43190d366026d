import type { Check, OptionRow, OptionShape } from '../../types/check.js'
import type { Deprecated, Deprecation } from '../../types/deprecated.js'
import { CrudConfigError } from '../common/errors.js'
import { isObject } from '../common/object.js'
import { either, option } from './checks.js'

/** A date, or a date-time with an offset. A date-time without an offset would depend on the server's time zone. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

function parseDate(value: unknown): Date | null {
  const isWritten = typeof value === 'string' && ISO.test(value)
  if (!isWritten && !(value instanceof Date)) return null
  const date = new Date(value)
  const year = date.getUTCFullYear()
  // Years of HTTP dates have four digits.
  return year >= 0 && year <= 9999 ? date : null
}

const isDate: Check = (value) => parseDate(value) !== null
const DATE = 'a Date, or text such as "2026-01-31" or "2026-01-31T12:00:00Z"'

/** The characters of RFC 3986. Other characters could end the address within a header. */
const isUrlText: Check = (value) => typeof value === 'string' && /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/.test(value)

const MEMBERS: OptionShape = {
  since: option(isDate, DATE),
  sunset: option(isDate, DATE),
  link: option(isUrlText, 'a percent-encoded URL or path, such as "https://example.com/v2" or "/v2"'),
}

/** The option `deprecated`, of resources and of fields. */
export const DEPRECATED: OptionRow = option(
  either(isObject, (value) => value === false),
  'false or an object',
  { members: MEMBERS },
)

/**
 * Reads the option `deprecated`; null for a resource or field that is not deprecated. `where` names the option in
 * messages.
 *
 * @throws CrudConfigError without `since`, and for a `sunset` before `since`
 */
export function readDeprecation(where: string, given: Partial<Deprecated> | false = false): Deprecation | null {
  if (given === false) return null
  const since = parseDate(given.since)
  const sunset = parseDate(given.sunset)
  if (since === null) {
    throw new CrudConfigError('INVALID_OPTION', `${where}: the option "since" is missing: it must be ${DATE}.`)
  }
  if (sunset !== null && sunset < since) {
    throw new CrudConfigError('INVALID_OPTION', `${where}: "sunset" must not be before "since".`)
  }
  return Object.freeze({ since, sunset, link: given.link ?? null })
}
