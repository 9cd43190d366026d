import type { TextColumn } from '../../../types/textColumn.js'

/** The most characters of a text. From some hundred million on the driver cannot give it, and ends the process. */
const MOST = 4_000_000

/**
 * What the driver does for each value of each row, on the thread of everybody, costs more than the statement; SQLite writes the
 * text on a thread of its own: an array for each row, of its values. It writes floating point with as few as 15 digits, which can
 * make a whole number of what is none: where numbers are read such a row is null. Of what is too long there is no text.
 */
export function sqliteText(rows: string, columns: readonly TextColumn[]): string {
  const row = `json_array(${columns.map(({ name }) => name).join(', ')})`
  const isInexact = columns.filter(({ isNumber }) => isNumber).map(({ name }) => `typeof(${name}) = 'real'`)
  const text = `json_group_array(${isInexact.length === 0 ? row : `CASE WHEN ${isInexact.join(' OR ')} THEN NULL ELSE ${row} END`})`
  return `SELECT CASE WHEN length(_rows) <= ${MOST} THEN _rows END AS _rows FROM (SELECT ${text} AS _rows FROM (${rows}))`
}
