/** The most characters of a text. From some hundred million on the driver cannot give it, and ends the process. */
const MOST = 4_000_000

/**
 * What the driver does for each value of each row, on the thread of everybody, costs more than the statement; SQLite writes the
 * text on a thread of its own: an array for each row, of its values. Of what is too long there is no text.
 */
export function sqliteText(rows: string, columns: readonly string[]): string {
  const text = `json_group_array(json_array(${columns.join(', ')}))`
  return `SELECT CASE WHEN length(_rows) <= ${MOST} THEN _rows END AS _rows FROM (SELECT ${text} AS _rows FROM (${rows}))`
}
