// Rows of SQLite that come as one text.

import type { TextColumn } from '../../types/textColumn.js'
import { sqliteText } from './dialect/sqliteText.js'
import type { RawRow } from './run.js'
import type { SqliteConnection } from './sqlite.js'

/** A row as its values, in the order of its columns. */
export type TextRow = readonly unknown[]

/** The rows that a text says; null where one of them holds something else than that, and where there is none. */
export function rowsIn([first]: readonly RawRow[], columns: readonly TextColumn[]): readonly TextRow[] | null {
  const found: unknown = typeof first?._rows === 'string' ? parsed(first._rows) : null
  return Array.isArray(found) && found.every((row) => isExact(row, columns)) ? found : null
}

function isExact(row: unknown, columns: readonly TextColumn[]): row is TextRow {
  if (!Array.isArray(row) || row.length !== columns.length) return false
  for (let index = 0; index < columns.length; index += 1) {
    const value: unknown = row[index]
    // A number in a column for others may be one that was rounded; what is neither is a text that SQLite took for JSON.
    const isSaid =
      typeof value === 'string' || value === null || (typeof value === 'number' && columns[index]?.isNumber)
    if (!isSaid) return false
  }
  return true
}

/** Whoever calls is called by the driver, where an error would end the process. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Whether a statement has failed because of its text: that would be longer than SQLite makes any, or the rows hold bytes, of which it
 * makes none. What else is wrong with it the rows themselves will tell.
 */
export function isOfText(error: Error): boolean {
  const code: unknown = Reflect.get(error, 'code')
  return code === 'SQLITE_TOOBIG' || code === 'SQLITE_ERROR'
}

const able = new Map<object, boolean | Promise<boolean>>()

/**
 * Whether the SQLite of a driver writes texts that say the rows: builds may lack the functions, and of some versions a column that
 * a function of JSON has made would stand in it as what its text says. Each driver is asked until it has answered.
 */
export function writesTexts(connection: SqliteConnection): boolean | Promise<boolean> {
  const driver = connection.constructor
  const known = able.get(driver)
  if (known !== undefined) return known
  const asked = Promise.all(['', ' LIMIT 9'].map((limit) => tries(connection, limit))).then((tried) => {
    if (tried.includes(null)) able.delete(driver)
    else able.set(driver, !tried.includes(false))
    return tried.every((isAble) => isAble === true)
  })
  able.set(driver, asked)
  return asked
}

/** Texts, with all that has to be escaped, made by a function of JSON, nothing at all, and what no text can say. */
const TRIED = `SELECT iif(value = 3, 1.0000000000000002, value) AS c0, json_quote(value) AS c1,
  CASE value WHEN 4 THEN NULL ELSE char(97, 0, 34, 9, 92, 8232) END AS c2
  FROM json_each('[2,1,4,3,9007199254740993]') ORDER BY value`

const COLUMNS: readonly TextColumn[] = ['c0', 'c1', 'c2'].map((name) => ({ name, isNumber: name === 'c0' }))

const ESCAPED = 'a\0"\t\\\u2028'

const EXPECTED = JSON.stringify([
  [1, '1', ESCAPED],
  [2, '2', ESCAPED],
  null,
  [4, '4', null],
  // As the driver gives it too.
  [2 ** 53, '9007199254740993', ESCAPED],
])

/** Null where something else than the statement is why it failed. */
function tries(connection: SqliteConnection, limit: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    connection.all(sqliteText(TRIED + limit, COLUMNS), [], (error, rows = []) => {
      if (error !== null) resolve(Reflect.get(error, 'code') === 'SQLITE_ERROR' ? false : null)
      else resolve(typeof rows[0]?._rows === 'string' && JSON.stringify(parsed(rows[0]._rows)) === EXPECTED)
    })
  })
}
