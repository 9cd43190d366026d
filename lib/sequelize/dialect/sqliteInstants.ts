// SQLite has no type for instants: a column holds what each program has written.

import type { Field } from '../../../types/field.js'

const DAY = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
const FORMAT = '%Y-%m-%d %H:%M:%f +00:00'

/** Milliseconds, as far as answers have them: SQLite would round the digits behind. */
function cut(text: string): string {
  const rest = `ltrim(substr(${text}, 24), '0123456789')`
  return `CASE WHEN substr(${text}, 20, 1) = '.' THEN substr(${text}, 1, 23) || ${rest} ELSE ${text} END`
}

/** Offsets of hours alone, or without a colon, which SQLite does not read. */
function offset(text: string): string {
  const isSign = (place: number): string => `substr(${text}, ${place}, 1) IN ('+', '-') AND length(${text}) > 16`
  return `CASE WHEN ${isSign(-3)} THEN ':00' WHEN ${isSign(-5)} THEN ':' || substr(${text}, -2) ELSE '' END`
}

/** The text without the minutes of an offset that has no colon. */
function unfinished(text: string): string {
  return `CASE WHEN substr(${text}, -5, 1) IN ('+', '-') AND length(${text}) > 16 THEN substr(${text}, 1, length(${text}) - 2) ELSE ${text} END`
}

/**
 * The instant in the format that Sequelize writes, null for what is none. Texts may have any separator and offset; numbers are
 * milliseconds.
 */
export function sqliteInstant(column: string): string {
  const text = `(${cut(column)})`
  const isDay = `${column} GLOB '${DAY}*' AND date(substr(${column}, 1, 10)) = substr(${column}, 1, 10)`
  return [
    `(CASE WHEN substr(${column}, 24) = ' +00:00' THEN ${column}`,
    `WHEN typeof(${column}) = 'text' THEN CASE WHEN ${isDay} THEN strftime('${FORMAT}', ${unfinished(text)} || ${offset(text)}) END`,
    `WHEN typeof(${column}) <> 'blob' THEN strftime('${FORMAT}', ${column} / 1000.0, 'unixepoch') END)`,
  ].join(' ')
}

/** For Sequelize's parsers, which throw for a number in a column of dates and for a broken document, and take some texts for booleans. */
export function sqliteParseable(column: string, { valueType: { type, document } }: Field): string | null {
  if (type === 'datetime') return `ifnull(${sqliteInstant(column)}, CAST(${column} AS TEXT))`
  if (type === 'boolean') return `CASE WHEN typeof(${column}) <> 'text' THEN ${column} END`
  return document === true ? `CASE WHEN json_valid(${column}) THEN ${column} END` : null
}
