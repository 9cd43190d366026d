// SQLite has no date-time type. A column contains whatever each program has written.

import type { Field } from '../../../types/field.js'

/** A day, as a pattern of GLOB. */
export const DAY = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
const FORMAT = '%Y-%m-%d %H:%M:%f +00:00'

/** Cuts a text after the milliseconds, because SQLite would round further digits. */
function cutToMilliseconds(text: string): string {
  const rest = `ltrim(substr(${text}, 24), '0123456789')`
  return `CASE WHEN substr(${text}, 20, 1) = '.' THEN substr(${text}, 1, 23) || ${rest} ELSE ${text} END`
}

/** Writes the missing part of an offset that has only hours or no colon, because SQLite cannot parse the offset. */
function offset(text: string): string {
  const isSign = (place: number): string => `substr(${text}, ${place}, 1) IN ('+', '-') AND length(${text}) > 16`
  return `CASE WHEN ${isSign(-3)} THEN ':00' WHEN ${isSign(-5)} THEN ':' || substr(${text}, -2) ELSE '' END`
}

/** Removes the minutes from an offset that has no colon. */
function omitMinutes(text: string): string {
  return `CASE WHEN substr(${text}, -5, 1) IN ('+', '-') AND length(${text}) > 16 THEN substr(${text}, 1, length(${text}) - 2) ELSE ${text} END`
}

/** Converts a value to an instant in Sequelize's format, or null. Texts may have any separator and offset. Numbers are milliseconds. */
export function convertToInstant(column: string): string {
  const text = `(${cutToMilliseconds(column)})`
  const isDay = `${column} GLOB '${DAY}*' AND date(substr(${column}, 1, 10)) = substr(${column}, 1, 10)`
  return [
    `(CASE WHEN substr(${column}, 24) = ' +00:00' THEN ${column}`,
    `WHEN typeof(${column}) = 'text' THEN CASE WHEN ${isDay} THEN strftime('${FORMAT}', ${omitMinutes(text)} || ${offset(text)}) END`,
    `WHEN typeof(${column}) <> 'blob' THEN strftime('${FORMAT}', ${column} / 1000.0, 'unixepoch') END)`,
  ].join(' ')
}

/**
 * Hides values that Sequelize's parsers cannot read. The parsers throw for numbers in date columns and for malformed
 * documents, and accept some texts as booleans.
 */
export function guardForParser(column: string, { valueType: { type, document } }: Field): string | null {
  if (type === 'datetime') return `ifnull(${convertToInstant(column)}, CAST(${column} AS TEXT))`
  if (type === 'boolean') return `CASE WHEN typeof(${column}) <> 'text' THEN ${column} END`
  return document === true ? `CASE WHEN json_valid(${column}) THEN ${column} END` : null
}
